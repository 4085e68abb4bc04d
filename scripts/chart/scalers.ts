/** Autoscalers of gateways and senders, for each method that the values offer. */
import type { Manifest } from "../../test/support/kustomize.ts";
import { copied, IS_CLUSTER, type Part, replace } from "./documents.ts";
import { valueAt } from "./sources.ts";
import { inline } from "./template-yaml.ts";

const sendersBy = (way: string) => `and (${IS_CLUSTER}) (eq .Values.autoscaling.smtpSender.by "${way}")`;
const SENDERS = ".Values.services.smtpSender";
const PER_SENDER = "int64 .Values.autoscaling.smtpSender.recipientsPerSender";

export function cpuScaler(manifest: Manifest): Part {
  const document = copied(manifest);
  replace(document, ["spec", "minReplicas"], inline("int .Values.services.gateway.replicas"));
  replace(document, ["spec", "maxReplicas"], inline("int .Values.services.gateway.maxReplicas"));
  const target = ["spec", "metrics", "0", "resource", "target", "averageUtilization"];
  replace(document, target, inline("int .Values.autoscaling.gateway.cpuPercent"));
  return { file: "autoscaling", condition: `and (${IS_CLUSTER}) .Values.autoscaling.gateway.enabled`, document };
}

export function scaledObject(manifest: Manifest, way: "database" | "prometheus"): Part {
  const document = copied(manifest);
  replace(document, ["spec", "minReplicaCount"], inline(`int ${SENDERS}.replicas`));
  replace(document, ["spec", "maxReplicaCount"], inline(`int ${SENDERS}.maxReplicas`));
  const trigger = ["spec", "triggers", "0", "metadata"];
  if (way === "database") replace(document, [...trigger, "targetQueryValue"], inline(`${PER_SENDER} | quote`));
  else {
    replace(document, [...trigger, "threshold"], inline(`${PER_SENDER} | quote`));
    replace(document, [...trigger, "serverAddress"], inline(".Values.autoscaling.smtpSender.prometheus | quote"));
    const query = String(valueAt(manifest, ...trigger, "query"));
    const [before, after] = query.split('"flockmail"');
    if (after === undefined) throw new Error(`The query names no namespace: ${query}`);
    const format = JSON.stringify(`${before}%q${after}`);
    replace(document, [...trigger, "query"], inline(`printf ${format} .Release.Namespace | quote`));
  }
  return { file: "autoscaling", condition: sendersBy(way), document };
}

export function triggerAuthentication(manifest: Manifest): Part {
  const document = copied(manifest);
  replace(document, ["spec", "secretTargetRef", "0", "name"], inline(".Values.existingSecret | quote"));
  return { file: "autoscaling", condition: sendersBy("database"), document };
}

export function metricScaler(manifest: Manifest): Part {
  const document = copied(manifest);
  replace(document, ["spec", "minReplicas"], inline(`int ${SENDERS}.replicas`));
  replace(document, ["spec", "maxReplicas"], inline(`int ${SENDERS}.maxReplicas`));
  const target = ["spec", "metrics", "0", "external", "target", "averageValue"];
  replace(document, target, inline(`${PER_SENDER} | quote`));
  return { file: "autoscaling", condition: sendersBy("metric"), document };
}
