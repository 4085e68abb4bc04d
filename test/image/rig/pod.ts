/** One pod: a container according to its plan, in its own network, probed as by the kubelet. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ADDRESS, type PodNetwork } from "./network.ts";
import type { Plan } from "./plans.ts";
import type { Podman } from "./podman.ts";

const READY_TIMEOUT_MS = 900_000;
const LOOK_EVERY_MS = 250;
const COMMAND_TIMEOUT_MS = 300_000;

/** 0: no answer in time. */
const statusOf = (address: string, port: number, path: string, timeoutMs: number) =>
  new Promise<number>((resolve) => {
    const request = get({ host: address, port, path, localAddress: ADDRESS.node, agent: false, timeout: timeoutMs });
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(0));
    request.on("close", () => resolve(0));
  });

export interface PodOptions {
  podman: Podman;
  image: string;
  network: PodNetwork;
  /** Folder for its volumes. */
  folder: string;
}

export class Pod {
  readonly plan: Plan;
  readonly name: string;
  readonly address: string;
  ready = false;
  /** True after a stop was requested. */
  leaving = false;
  /** True while it is killed on purpose, so it is not monitored. */
  unwatched = false;
  /** Failed liveness probes in a row. */
  failedLooks = 0;
  mostFailedLooks = 0;
  #discarded = false;
  readonly #options: PodOptions;

  constructor(name: string, plan: Plan, options: PodOptions) {
    this.name = name;
    this.plan = plan;
    this.address = options.network.address;
    this.#options = options;
  }

  /** PID of its process 1 in this process's namespace; 0 if there is none. */
  get pid(): number {
    const file = join(this.#options.folder, "pid");
    return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  }

  /** State of its process 1 from /proc; empty after the end. */
  status(): string {
    try {
      return readFileSync(`/proc/${this.pid}/status`, "utf8");
    } catch {
      return "";
    }
  }

  running(): boolean {
    return /^State:\s+[^ZX]/m.test(this.status());
  }

  #volumes(): string[] {
    const { folder } = this.#options;
    const names = join(folder, "resolv.conf");
    writeFileSync(names, `nameserver ${ADDRESS.names}\noptions timeout:2 attempts:3\n`);
    const mounts = this.plan.mounts.map(({ path, readOnly }, n) => {
      const volume = join(folder, `volume-${n}`);
      mkdirSync(volume, { recursive: true });
      // Everybody in the pod may write to an emptyDir.
      chmodSync(volume, 0o777);
      return `--volume=${volume}:${path}:${readOnly ? "ro" : "rw"}`;
    });
    return [...mounts, `--volume=${names}:/etc/resolv.conf:ro`];
  }

  async start(): Promise<this> {
    const { podman, image, network, folder } = this.#options;
    mkdirSync(folder, { recursive: true });
    const { name, plan } = this;
    const identity = [`--name=${name}`, `--hostname=${name}`, `--network=ns:${network.file}`, "--no-hosts"];
    const engine = ["--detach", "--no-healthcheck", "--log-driver=k8s-file", `--pidfile=${join(folder, "pid")}`];
    const env = Object.entries(plan.env).map(([key, value]) => `--env=${key}=${value}`);
    // Like `command` of a pod: replaces ENTRYPOINT completely.
    const entry = plan.command ? [`--entrypoint=${JSON.stringify(plan.command)}`] : [];
    const options = [...identity, ...engine, ...plan.confinement, ...this.#volumes(), ...env, ...entry];
    await podman(["run", ...options, image, ...plan.args]);
    return this;
  }

  /** Runs one probe like the kubelet. */
  probe(which: keyof Plan["probes"]): Promise<number> {
    const { httpGet, timeoutSeconds = 1 } = this.plan.probes[which]!;
    return statusOf(this.address, this.plan.ports[httpGet.port]!, httpGet.path, timeoutSeconds * 1_000);
  }

  async untilReady(): Promise<this> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    while ((await this.probe("readiness")) !== 200) {
      if (this.pid > 0 && !this.running())
        throw new Error(`${this.name} ended before it was ready:\n${await this.log()}`);
      if (Date.now() > deadline) throw new Error(`${this.name} does not become ready:\n${await this.log()}`);
      await sleep(LOOK_EVERY_MS);
    }
    this.ready = true;
    return this;
  }

  exec(command: string[], codes?: number[]): Promise<string> {
    return this.#options.podman(["exec", this.name, ...command], { timeoutMs: COMMAND_TIMEOUT_MS, codes });
  }

  /** The end of its log, with the exit state. */
  async log(lines = 30): Promise<string> {
    const how = "{{.State.Status}}, code {{.State.ExitCode}}, out of memory: {{.State.OOMKilled}}";
    const asked = [
      ["inspect", `--format=${how}`, this.name],
      ["logs", "--tail", `${lines}`, this.name],
    ].map((args) => this.#options.podman(args, { both: true }).catch((error) => (error as Error).message));
    return (await Promise.all(asked)).join("\n");
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name);
  }

  /** Resolves with its exit code. */
  async ended(withinMs: number): Promise<number> {
    const deadline = Date.now() + withinMs;
    while (this.running()) {
      if (Date.now() > deadline) throw new Error(`${this.name} still runs after ${withinMs} ms:\n${await this.log()}`);
      await sleep(LOOK_EVERY_MS);
    }
    return Number(await this.#options.podman(["wait", this.name]));
  }

  /** Ends it like Kubernetes: preStop and SIGTERM, with one grace period for both. */
  async terminate(): Promise<{ code: number; log: string }> {
    this.leaving = true;
    this.ready = false;
    const deadline = Date.now() + this.plan.graceMs;
    if (this.plan.preStop.length > 0) await this.exec(this.plan.preStop);
    this.signal("SIGTERM");
    const code = await this.ended(Math.max(1_000, deadline - Date.now()));
    const log = await this.log();
    await this.remove();
    return { code, log };
  }

  /** Kills it, as the kernel might, and restarts it in the same pod. */
  async killAndRestart(): Promise<void> {
    this.unwatched = true;
    this.ready = false;
    this.signal("SIGKILL");
    await this.ended(this.plan.graceMs);
    await this.#options.podman(["start", this.name]);
    await this.untilReady();
    this.unwatched = false;
  }

  async remove(): Promise<void> {
    await this.#options.podman(["rm", "--force", "--time=0", this.name]);
    this.discard();
  }

  /** Removes its files after the container has ended. */
  discard(): void {
    if (this.#discarded) return;
    this.#discarded = true;
    this.#options.network.close();
    rmSync(this.#options.folder, { recursive: true, force: true });
  }
}
