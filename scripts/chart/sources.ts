/** Reads the manifests that the chart is made from and finds parts of them. A missing part is an error. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { build, type Json, type Manifest } from "../../test/support/kustomize.ts";

const K8S = resolve(import.meta.dirname, "../../k8s");

export interface Sources {
  cluster: Manifest[];
  small: Manifest[];
  config: Manifest;
  job: Manifest;
  statefulSet: Manifest;
  bouncesService: Manifest;
  cpuScaler: Manifest;
  scaledObject: Manifest;
  policies: Map<string, Manifest>;
  overlayImage: string;
  ingress: Manifest;
  podMonitor: Manifest;
  prometheusScaler: Manifest;
  metricScaler: Manifest;
}

const describeOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;

/** The node at this path; list indices are written like names. */
export function valueAt(from: unknown, ...path: string[]): unknown {
  const found = path.reduce<unknown>((at, key) => (at as Json | undefined)?.[key], from);
  if (found === undefined) {
    const prefix = (from as Manifest).metadata ? `${describeOf(from as Manifest)}: ` : "";
    throw new Error(`${prefix}there is no ${path.join(".")} in the manifests`);
  }
  return found;
}

export const podOf = (workload: Manifest): Json => valueAt(workload, "spec", "template", "spec") as Json;

export function containerOf(workload: Manifest): Json {
  const containers = podOf(workload).containers as Json[];
  return valueAt(containers, String(containers.findIndex(({ name }) => name === "flockmail"))) as Json;
}

export const deploymentsOf = ({ cluster }: Sources): Manifest[] => cluster.filter(({ kind }) => kind === "Deployment");

/** Turns `smtp-sender` into `smtpSender`: `.Values.services.…` cannot contain hyphens. */
export const valueName = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase());

export function scalerOf({ cluster }: Sources, name: string): { min: number; max: number } | undefined {
  const scaler = cluster.find(
    ({ spec }) => ((spec as Json | undefined)?.scaleTargetRef as Json | undefined)?.name === name,
  )?.spec as Record<string, number> | undefined;
  return (
    scaler && { min: scaler.minReplicas ?? scaler.minReplicaCount!, max: scaler.maxReplicas ?? scaler.maxReplicaCount! }
  );
}

interface Variable {
  name: string;
  valueFrom?: { secretKeyRef?: { name: string } };
}

/** Variables that come from the Secret, in any pod. */
export function secretNamesOf({ cluster, small }: Sources): Set<string> {
  const workloads = [...cluster, ...small].filter(({ kind }) => ["Deployment", "StatefulSet", "Job"].includes(kind));
  const variables = workloads.flatMap((one) => (containerOf(one).env ?? []) as Variable[]);
  return new Set(variables.filter(({ valueFrom }) => valueFrom?.secretKeyRef).map(({ name }) => name));
}

const example = (name: string) => parse(readFileSync(join(K8S, "examples", `${name}.yaml`), "utf8")) as Manifest;

export function readSources(): Sources {
  const cluster = build(join(K8S, "overlays/cluster"));
  const small = build(join(K8S, "overlays/small"));
  const only = (all: Manifest[], kind: string, name: string) => {
    const found = all.find((one) => one.kind === kind && one.metadata.name === name);
    if (!found) throw new Error(`kustomize builds no ${kind} ${name} any more`);
    return found;
  };
  const job = only(cluster, "Job", "migrate");
  return {
    cluster,
    small,
    job,
    config: only(cluster, "ConfigMap", "flockmail"),
    statefulSet: only(small, "StatefulSet", "flockmail"),
    bouncesService: only(cluster, "Service", "bounces"),
    cpuScaler: only(cluster, "HorizontalPodAutoscaler", "gateway"),
    scaledObject: only(cluster, "ScaledObject", "smtp-sender"),
    policies: new Map(cluster.filter(({ kind }) => kind === "NetworkPolicy").map((one) => [one.metadata.name, one])),
    overlayImage: String(containerOf(job).image),
    ingress: example("ingress"),
    podMonitor: example("pod-monitor"),
    prometheusScaler: example("smtp-sender-prometheus"),
    metricScaler: example("smtp-sender-metric"),
  };
}
