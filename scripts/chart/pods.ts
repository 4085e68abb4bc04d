/** Workloads of the chart. */
import type { Manifest } from "../../test/support/kustomize.ts";
import { copied, IS_CLUSTER, IS_SMALL, type Part, replace, set, whereGiven } from "./documents.ts";
import { containerOf, podOf, type Sources, scalerOf, valueAt, valueName } from "./sources.ts";
import { asYaml, Conditional, type Fields, inline, type Node, Verbatim } from "./template-yaml.ts";

/** Replaces every reference to the Secret. */
function nameSecret(node: Node): void {
  if (node === null || typeof node !== "object") return;
  for (const [key, inner] of Object.entries(node as Fields)) {
    if (key === "secretKeyRef") (inner as Fields).name = inline(".Values.existingSecret | quote");
    else nameSecret(inner);
  }
}

/** Fills in what all our pods share; `own` is the path of this workload's values. */
function fillPod(document: Fields, own: string, drainSeconds: number): void {
  const pod = podOf(document as unknown as Manifest) as Fields;
  const container = containerOf(document as unknown as Manifest) as Fields;
  nameSecret(pod);
  container.image = inline('include "flockmail.image" .');
  container.imagePullPolicy = new Conditional(".Values.image.pullPolicy", inline(".Values.image.pullPolicy"));
  container.resources = asYaml(`${own}.resources`);
  (container.env as Node[]).push(whereGiven(`concat .Values.extraEnv (${own}.extraEnv | default list)`));
  (container.envFrom as Node[]).push(whereGiven(".Values.extraEnvFrom"));
  (container.volumeMounts as Node[]).push(whereGiven(".Values.extraVolumeMounts"));
  (pod.volumes as Node[]).push(whereGiven(".Values.extraVolumes"));
  pod["values of placement"] = new Verbatim(
    `{{- include "flockmail.placement" (list .Values (${own} | default dict)) | trim | nindent INDENT }}`,
  );
  if (pod.terminationGracePeriodSeconds !== undefined) {
    // Time for preStop and for final writes; the remainder is DRAIN_SECONDS.
    const beside = Number(pod.terminationGracePeriodSeconds) - drainSeconds;
    pod.terminationGracePeriodSeconds = inline(
      `add ${beside} (int (.Values.config.DRAIN_SECONDS | default ${drainSeconds}))`,
    );
  }
  const metadata = valueAt(document, "spec", "template", "metadata") as Fields;
  (metadata.labels as Fields)["values of labels"] = whereGiven(".Values.podLabels");
  if (document.kind === "Job") {
    metadata.annotations = new Conditional(".Values.podAnnotations", asYaml(".Values.podAnnotations"));
    return;
  }
  const scraped = Object.entries(metadata.annotations as Fields).filter(([name]) => name.startsWith("prometheus.io/"));
  const others = Object.entries(metadata.annotations as Fields).filter(([name]) => !name.startsWith("prometheus.io/"));
  metadata.annotations = {
    // Pods read their settings only at start.
    "checksum/config": inline('include (print $.Template.BasePath "/config.yaml") . | sha256sum'),
    ...Object.fromEntries(others),
    "without a PodMonitor": new Conditional("not .Values.podMonitor.enabled", Object.fromEntries(scraped), {
      areFields: true,
    }),
    "values of annotations": whereGiven(".Values.podAnnotations"),
  };
}

/** Condition under which each scalable workload has a fixed number of pods. */
const UNSCALED: Record<string, string> = {
  gateway: "not .Values.autoscaling.gateway.enabled",
  "smtp-sender": 'eq .Values.autoscaling.smtpSender.by "none"',
};

export function deployment(manifest: Manifest, sources: Sources, drainSeconds: number): Part {
  const { name } = manifest.metadata;
  const own = `.Values.services.${valueName(name)}`;
  const document = copied(manifest);
  fillPod(document, own, drainSeconds);
  const replicas = inline(`int ${own}.replicas`);
  if (!scalerOf(sources, name)) replace(document, ["spec", "replicas"], replicas);
  else if (UNSCALED[name]) set(document, ["spec", "replicas"], new Conditional(UNSCALED[name], replicas));
  else throw new Error(`${name} is scaled, but no value selects the method`);
  return { file: name, condition: IS_CLUSTER, document };
}

export function job(manifest: Manifest, drainSeconds: number): Part {
  const document = copied(manifest);
  fillPod(document, ".Values.migrations", drainSeconds);
  // A Job cannot be changed: each revision of the release has its own, and Helm removes the previous one.
  replace(document, ["metadata", "name"], inline('printf "migrate-%d" .Release.Revision'));
  return { file: "migrate", condition: IS_CLUSTER, document };
}

export function statefulSet(manifest: Manifest, drainSeconds: number): Part {
  const document = copied(manifest);
  fillPod(document, ".Values.small", drainSeconds);
  const postgres = ["spec", "template", "spec", "initContainers", "0"];
  replace(document, [...postgres, "image"], inline(".Values.small.postgres.image | quote"));
  replace(document, [...postgres, "resources"], asYaml(".Values.small.postgres.resources"));
  const claim = ["spec", "volumeClaimTemplates", "0", "spec"];
  replace(document, [...claim, "resources", "requests", "storage"], inline(".Values.small.storage.size | quote"));
  const className = ".Values.small.storage.className";
  set(document, [...claim, "storageClassName"], new Conditional(className, inline(`${className} | quote`)));
  return { file: "small", condition: IS_SMALL, document };
}
