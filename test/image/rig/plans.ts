/** Converts rendered manifests to arguments for podman. */
import type { Manifest } from "../../support/kustomize.ts";
import { CGROUP } from "./podman.ts";

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds?: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
}
interface Container {
  name: string;
  command?: string[];
  args?: string[];
  envFrom?: { configMapRef: { name: string } }[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { key: string; optional?: boolean } } }[];
  ports?: { name: string; containerPort: number }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: {
    allowPrivilegeEscalation: boolean;
    readOnlyRootFilesystem: boolean;
    capabilities: { drop: string[] };
  };
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop: { exec: { command: string[] } } };
}
interface Workload extends Manifest {
  spec: {
    replicas?: number;
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        containers: Container[];
        volumes: { name: string; emptyDir?: object; configMap?: { name: string; optional?: boolean } }[];
        securityContext: { runAsUser: number; runAsGroup: number };
        terminationGracePeriodSeconds?: number;
      };
    };
  };
}
interface Scaler {
  scaleTargetRef: { name: string };
  minReplicas?: number;
  minReplicaCount?: number;
}

export interface Plan {
  name: string;
  kind: "Deployment" | "Job";
  replicas: number;
  labels: Record<string, string>;
  ports: Record<string, number>;
  env: Record<string, string>;
  /** Arguments of `podman run` for the pod's restrictions. */
  confinement: string[];
  mounts: { path: string; readOnly: boolean }[];
  memoryBytes: number;
  /** Replaces the image's ENTRYPOINT. */
  command?: string[];
  args: string[];
  probes: Record<"startup" | "readiness" | "liveness", Probe | undefined>;
  preStop: string[];
  graceMs: number;
}

const bytesOf = (text: string): number => {
  const [, amount, unit] = /^(\d+)([KMG]i)$/.exec(text) ?? [];
  if (!amount) throw new Error(`${text} is not a supported amount of memory`);
  return Number(amount) * 1_024 ** (["Ki", "Mi", "Gi"].indexOf(unit!) + 1);
};

/** CPU shares as the kubelet computes them: 1024 per core. */
const sharesOf = (cpu: string): number =>
  Math.max(2, Math.round((cpu.endsWith("m") ? Number.parseInt(cpu, 10) / 1_000 : Number(cpu)) * 1_024));

function confinementOf(container: Container, { runAsUser, runAsGroup }: { runAsUser: number; runAsGroup: number }) {
  const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = container.securityContext;
  const memory = bytesOf(container.resources.limits.memory!);
  return [
    `--user=${runAsUser}:${runAsGroup}`,
    ...capabilities.drop.map((name) => `--cap-drop=${name.toLowerCase()}`),
    ...(allowPrivilegeEscalation ? [] : ["--security-opt=no-new-privileges"]),
    // Unlike podman, Kubernetes adds no memory file systems.
    ...(readOnlyRootFilesystem ? ["--read-only", "--read-only-tmpfs=false"] : []),
    `--memory=${memory}`,
    // No swap, as in a pod.
    `--memory-swap=${memory}`,
    `--cpu-shares=${sharesOf(container.resources.requests.cpu!)}`,
    `--cgroup-parent=/${CGROUP}`,
  ];
}

export interface Given {
  /** Values of the Secret by key; undefined if missing. */
  secret: (key: string) => string | undefined;
  /** An operator's settings in base/config.yaml. */
  settings: Record<string, string>;
}

function envOf(container: Container, manifests: Manifest[], { secret, settings }: Given): Record<string, string> {
  const maps = (container.envFrom ?? []).map(
    ({ configMapRef }) =>
      manifests.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === configMapRef.name)!.data,
  );
  const own = (container.env ?? []).flatMap(({ name, value, valueFrom }): [string, string][] => {
    if (value !== undefined) return [[name, value]];
    const { key, optional } = valueFrom!.secretKeyRef;
    const found = secret(key);
    if (found === undefined && !optional) throw new Error(`The Secret has no ${key}, and ${container.name} needs it`);
    return found === undefined ? [] : [[name, found]];
  });
  return { ...Object.assign({}, ...maps), ...settings, ...Object.fromEntries(own) };
}

/** Each Deployment with its scaler's minimum number of pods. */
export function plansOf(manifests: Manifest[], given: Given): Plan[] {
  const least = new Map(
    manifests
      .filter(({ kind }) => kind === "HorizontalPodAutoscaler" || kind === "ScaledObject")
      .map(({ spec }) => spec as Scaler)
      .map((spec) => [spec.scaleTargetRef.name, spec.minReplicas ?? spec.minReplicaCount] as const),
  );
  const workloads = manifests.filter(({ kind }) => kind === "Deployment" || kind === "Job") as Workload[];
  return workloads.map(({ kind, metadata, spec }) => {
    const { containers, securityContext, terminationGracePeriodSeconds = 30 } = spec.template.spec;
    const [container] = containers;
    if (!container || containers.length > 1) throw new Error(`${metadata.name} has not one container`);
    return {
      name: metadata.name,
      kind: kind as Plan["kind"],
      replicas: spec.replicas ?? least.get(metadata.name) ?? 1,
      labels: spec.template.metadata.labels,
      ports: Object.fromEntries((container.ports ?? []).map(({ name, containerPort }) => [name, containerPort])),
      env: envOf(container, manifests, given),
      confinement: confinementOf(container, securityContext),
      mounts: container.volumeMounts.map(({ mountPath, readOnly = false }) => ({ path: mountPath, readOnly })),
      memoryBytes: bytesOf(container.resources.limits.memory!),
      command: container.command,
      args: container.args ?? [],
      probes: {
        startup: container.startupProbe,
        readiness: container.readinessProbe,
        liveness: container.livenessProbe,
      },
      preStop: container.lifecycle?.preStop.exec.command ?? [],
      graceMs: terminationGracePeriodSeconds * 1_000,
    };
  });
}
