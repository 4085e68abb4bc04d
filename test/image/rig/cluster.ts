/**
 * Pods of the overlay `cluster`, managed like by Kubernetes: started, probed, replaced one after the other, ended in
 * order.
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { build, type Manifest } from "../../support/kustomize.ts";
import type { Backends } from "./backends.ts";
import { MAIL_HOST, MAIL_POLICY } from "./backends.ts";
import { type Ingress, openIngress } from "./ingress.ts";
import { memoryOf } from "./memory.ts";
import { type PodNetwork, podNetworks } from "./network.ts";
import { type Plan, plansOf } from "./plans.ts";
import { Pod } from "./pod.ts";
import type { Podman } from "./podman.ts";
import { rulesFor } from "./policies.ts";

const OVERLAY = resolve(import.meta.dirname, "../../../k8s/overlays/cluster");
/** Number of pods that two cores can start without failing each other's probes. */
const STARTED_AT_ONCE = 4;
const MIGRATED_WITHIN_MS = 900_000;
const ALL_READY_WITHIN_MS = 300_000;
const MEMORY_EVERY_MS = 250;

/** Settings that an operator makes before the first start, besides the Secret. */
const SETTINGS = {
  REGISTRATION: "open",
  ALLOWED_PRIVATE_HOSTS: MAIL_HOST,
  LOGLEVEL: "warn",
};

export interface Peak {
  anonymousMib: number;
  workingSetMib: number;
  kills: number;
}

export class Cluster {
  readonly pods: Pod[] = [];
  /** Containers that ended unexpectedly. */
  readonly died: string[] = [];
  /** Last output of ended containers. */
  readonly #past: string[] = [];
  readonly manifests: Manifest[];
  ingress!: Ingress;
  readonly #podman: Podman;
  readonly #image: string;
  readonly #folder: string;
  readonly #plans: Plan[];
  readonly #network: () => PodNetwork;
  readonly #peaks = new Map<string, Peak>();
  #stopping = false;
  #loops: Promise<void>[] = [];
  #no = 0;

  private constructor(podman: Podman, image: string, folder: string, network: () => PodNetwork, backends: Backends) {
    this.#podman = podman;
    this.#image = image;
    this.#folder = folder;
    this.#network = network;
    this.manifests = [...build(OVERLAY), MAIL_POLICY];
    this.#plans = plansOf(this.manifests, { secret: backends.secret, settings: SETTINGS });
  }

  static async open(podman: Podman, image: string, folder: string, backends: Backends): Promise<Cluster> {
    mkdirSync(folder, { recursive: true });
    return new Cluster(podman, image, folder, await podNetworks(join(folder, "networks")), backends);
  }

  #pod(plan: Plan): Pod {
    const name = `${plan.name}-${++this.#no}`;
    const network = this.#network();
    network.restrict(rulesFor(plan, this.manifests));
    return new Pod(name, plan, { podman: this.#podman, image: this.#image, network, folder: join(this.#folder, name) });
  }

  /** Watches a pod until it should end: readiness, liveness, and whether it runs. */
  async #keep(pod: Pod): Promise<void> {
    const { readiness, liveness } = pod.plan.probes;
    let failures = 0;
    for (let second = 1; !pod.leaving && !this.#stopping; second++) {
      await sleep(1_000);
      if (pod.leaving || this.#stopping) return;
      if (pod.unwatched) continue;
      if (!pod.running()) {
        this.died.push(`${pod.name}:\n${await pod.log()}`);
        pod.ready = false;
        return;
      }
      if (second % (readiness?.periodSeconds ?? 10) === 0) {
        failures = (await pod.probe("readiness")) === 200 ? 0 : failures + 1;
        if (!pod.leaving && !pod.unwatched) pod.ready = failures < (readiness?.failureThreshold ?? 3);
      }
      if (second % (liveness?.periodSeconds ?? 10) === 0) {
        pod.failedLooks = (await pod.probe("liveness")) === 200 ? 0 : pod.failedLooks + 1;
        pod.mostFailedLooks = Math.max(pod.mostFailedLooks, pod.failedLooks);
      }
    }
  }

  async #bringUp(plan: Plan): Promise<Pod> {
    const pod = this.#pod(plan);
    this.pods.push(pod);
    await pod.start();
    await pod.untilReady();
    this.#loops.push(this.#keep(pod));
    return pod;
  }

  /** Starts the job and the Deployments at the same time, like `kubectl apply`. Resolves with the job's exit code. */
  async deploy(): Promise<number> {
    const job = this.#pod(this.#plans.find(({ kind }) => kind === "Job")!);
    await job.start();
    this.#loops.push(this.#watchMemory());
    const atOnce = pLimit(STARTED_AT_ONCE);
    const wanted = this.#deployments().flatMap((plan) => Array.from({ length: plan.replicas }, () => plan));
    const starts = wanted.map((plan) => atOnce(() => this.#bringUp(plan)));
    const [code] = await Promise.all([job.ended(MIGRATED_WITHIN_MS), ...starts]);
    if (code !== 0) throw new Error(`The migration job ended with ${code}:\n${await job.log()}`);
    await job.remove();
    const [gateway] = this.of("gateway");
    const port = gateway!.plan.ports.http!;
    this.ingress = await openIngress(() =>
      this.of("gateway")
        .filter(({ ready }) => ready)
        .map(({ address }) => ({ address, port })),
    );
    // Early pods may have become unready while the last ones used the machine's CPU to start.
    const deadline = Date.now() + ALL_READY_WITHIN_MS;
    while (this.pods.some(({ ready }) => !ready)) {
      if (Date.now() > deadline) throw new Error(`They are not all ready at once:\n${await this.said()}`);
      await sleep(1_000);
    }
    return code;
  }

  #deployments = () => this.#plans.filter(({ kind }) => kind === "Deployment");

  of = (name: string): Pod[] => this.pods.filter((pod) => pod.plan.name === name && !pod.leaving);

  /**
   * Like `kubectl rollout restart deployment`: starts one new pod, then ends an old one, for each Deployment. Returns
   * exit codes of the old pods.
   */
  async rollOut(): Promise<number[]> {
    const atOnce = pLimit(STARTED_AT_ONCE);
    const codes: number[] = [];
    const replace = async (plan: Plan) => {
      for (const old of this.of(plan.name)) {
        await atOnce(() => this.#bringUp(plan));
        const { code, log } = await old.terminate();
        codes.push(code);
        this.#past.push(`${old.name}:\n${log}`);
      }
    };
    await Promise.all(this.#deployments().map(replace));
    return codes;
  }

  /** The end of all logs, for failure messages. */
  async said(): Promise<string> {
    const now = this.pods.filter(({ leaving }) => !leaving).map(async (pod) => `${pod.name}:\n${await pod.log()}`);
    return [...this.#past, ...(await Promise.all(now))].join("\n\n");
  }

  async #watchMemory(): Promise<void> {
    while (!this.#stopping) {
      await sleep(MEMORY_EVERY_MS);
      for (const pod of this.pods) {
        const now = pod.leaving ? undefined : memoryOf(pod.pid);
        if (!now) continue;
        const peak = this.#peaks.get(pod.name) ?? { anonymousMib: 0, workingSetMib: 0, kills: 0 };
        this.#peaks.set(pod.name, {
          anonymousMib: Math.max(peak.anonymousMib, now.anonymousMib),
          workingSetMib: Math.max(peak.workingSetMib, now.workingSetMib),
          kills: Math.max(peak.kills, now.kills),
        });
      }
    }
  }

  /** Peaks of each pod since they were reset. */
  peaks = (): { pod: string; peak: Peak }[] => [...this.#peaks].map(([pod, peak]) => ({ pod, peak }));

  forgetPeaks = () => this.#peaks.clear();

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#loops);
    await this.ingress?.close();
    await this.#podman(["rm", "--all", "--force", "--time=0"]);
    for (const pod of this.pods) pod.discard();
  }
}
