/** Templates of the chart: each object from kustomize, with some parts replaced by values. */
import type { Json, Manifest } from "../../test/support/kustomize.ts";
import { copied, IS_CLUSTER, type Part, replace, set, whereGiven } from "./documents.ts";
import { extraEgress, networkPolicy } from "./network-policies.ts";
import { deployment, job, statefulSet } from "./pods.ts";
import { cpuScaler, metricScaler, scaledObject, triggerAuthentication } from "./scalers.ts";
import { type Sources, valueAt } from "./sources.ts";
import { asYaml, Conditional, type Fields, inline, type Node, templateText, Verbatim } from "./template-yaml.ts";
import { FIXED_SETTINGS } from "./values.ts";

const HEAD = "{{- /* Written by `npm run chart` from what kustomize builds of k8s/: change it there. */ -}}";

function config(manifest: Manifest, smallData: Record<string, string>): Part {
  const document = copied(manifest);
  const data = valueAt(document, "data") as Record<string, string>;
  const fixed = Object.entries(data)
    .filter(([name]) => FIXED_SETTINGS.includes(name))
    .map(([name, text]): [string, Node] => [name, name in smallData ? text : new Conditional(IS_CLUSTER, text)]);
  document.data = {
    ...Object.fromEntries(fixed),
    BASE_URL: inline(".Values.baseUrl | quote"),
    "values of config": new Verbatim(
      "{{- range $name, $text := .Values.config }}\n  {{ $name }}: {{ $text | quote }}\n  {{- end }}",
    ),
  };
  return { file: "config", document };
}

function serviceAccount(manifest: Manifest): Part {
  const document = copied(manifest);
  (valueAt(document, "metadata", "annotations") as Fields)["values of annotations"] = whereGiven(
    ".Values.serviceAccount.annotations",
  );
  return { file: "service-account", document };
}

function service(manifest: Manifest): Part {
  const document = copied(manifest);
  const isApi = manifest.metadata.name === "flockmail";
  const values = isApi ? ".Values.service" : ".Values.inbound";
  set(document, ["metadata", "annotations"], new Conditional(`${values}.annotations`, asYaml(`${values}.annotations`)));
  const type = inline(`${values}.type`);
  set(document, ["spec", "type"], isApi ? new Conditional(`ne ${values}.type "ClusterIP"`, type) : type);
  const policy = (manifest.spec as Json).externalTrafficPolicy as string | undefined;
  if (policy)
    set(document, ["spec", "externalTrafficPolicy"], new Conditional(`ne ${values}.type "ClusterIP"`, policy));
  return isApi ? { file: "api", document } : { file: manifest.metadata.name, condition: IS_CLUSTER, document };
}

function budget(manifest: Manifest): Part {
  const condition = `and (${IS_CLUSTER}) .Values.podDisruptionBudgets.enabled`;
  return { file: manifest.metadata.name, condition, document: copied(manifest) };
}

function ingress(manifest: Manifest): Part {
  const document = copied(manifest);
  const host = inline("$host | quote");
  const annotations = ".Values.ingress.annotations";
  replace(document, ["metadata", "annotations"], new Conditional(annotations, asYaml(annotations)));
  replace(document, ["spec", "ingressClassName"], inline(".Values.ingress.className | quote"));
  replace(document, ["spec", "rules", "0", "host"], host);
  const tls = [{ hosts: [host], secretName: inline(".Values.ingress.tlsSecret | quote") }];
  replace(document, ["spec", "tls"], new Conditional(".Values.ingress.tlsSecret", tls));
  return { file: "ingress", condition: ".Values.ingress.enabled", document };
}

function podMonitor(manifest: Manifest): Part {
  const document = copied(manifest);
  const labels = ".Values.podMonitor.labels";
  set(document, ["metadata", "labels"], new Conditional(labels, asYaml(labels)));
  replace(document, ["spec", "podMetricsEndpoints", "0", "interval"], inline(".Values.podMonitor.interval | quote"));
  return { file: "pod-monitor", condition: ".Values.podMonitor.enabled", document };
}

function partOf(manifest: Manifest, sources: Sources): Part {
  const { kind, metadata } = manifest;
  const drainSeconds = Number(valueAt(sources.config, "data", "DRAIN_SECONDS"));
  const smallHas = sources.small.some((one) => one.kind === kind && one.metadata.name === metadata.name);
  const smallConfig = sources.small.find((one) => one.kind === "ConfigMap")!;
  switch (kind) {
    case "Deployment":
      return deployment(manifest, sources, drainSeconds);
    case "Job":
      return job(manifest, drainSeconds);
    case "StatefulSet":
      return statefulSet(manifest, drainSeconds);
    case "ConfigMap":
      return config(manifest, smallConfig.data as Record<string, string>);
    case "ServiceAccount":
      return serviceAccount(manifest);
    case "Service":
      return service(manifest);
    case "NetworkPolicy":
      return networkPolicy(manifest, smallHas);
    case "PodDisruptionBudget":
      return budget(manifest);
    case "HorizontalPodAutoscaler":
      return cpuScaler(manifest);
    case "ScaledObject":
      return scaledObject(manifest, "database");
    case "TriggerAuthentication":
      return triggerAuthentication(manifest);
    default:
      throw new Error(`The chart has no template for ${kind} ${metadata.name}: add it in ${import.meta.filename}`);
  }
}

/** Template texts by name. */
export function chartTemplates(sources: Sources): Map<string, string> {
  const statefulSets = sources.small.filter(({ kind }) => kind === "StatefulSet");
  const parts = [
    ...[...sources.cluster, ...statefulSets].map((manifest) => partOf(manifest, sources)),
    extraEgress(sources.policies.get("flockmail-default-deny")!),
    scaledObject(sources.prometheusScaler, "prometheus"),
    metricScaler(sources.metricScaler),
    ingress(sources.ingress),
    podMonitor(sources.podMonitor),
  ];
  const files = Map.groupBy(parts, ({ file }) => file);
  return new Map(
    [...files].map(([file, inside]) => {
      const documents = inside.map(({ condition, document }) => {
        const text = `---\n${templateText(document)}`;
        return condition ? `{{- if ${condition} }}\n${text}\n{{- end }}` : text;
      });
      const host =
        file === "ingress"
          ? ["{{- $host := .Values.ingress.host | default (urlParse .Values.baseUrl).hostname }}"]
          : [];
      return [`${file}.yaml`, `${[HEAD, ...host, ...documents].join("\n")}\n`];
    }),
  );
}
