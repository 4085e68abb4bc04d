/** Network policies of the chart, with values as peers. */
import type { Manifest } from "../../test/support/kustomize.ts";
import { copied, IS_CLUSTER, type Part, replace } from "./documents.ts";
import { valueAt } from "./sources.ts";
import { asYaml, type Node } from "./template-yaml.ts";

/** Peers that values replace, by policy; all others stay as they are. */
const PEERS: Record<string, [path: string[], value: string][]> = {
  "flockmail-dns": [[["egress", "0", "to"], "resolvers"]],
  "flockmail-api": [[["ingress", "0", "from"], "ingress"]],
  "flockmail-monitoring": [[["ingress", "0", "from"], "monitoring"]],
  "flockmail-internet": [[["egress", "0", "to"], "internet"]],
  "flockmail-backends": [
    [["egress", "0", "to"], "backends"],
    [["egress", "0", "ports"], "backendPorts"],
  ],
};

export function networkPolicy(manifest: Manifest, isShared: boolean): Part {
  const { name } = manifest.metadata;
  const document = copied(manifest);
  for (const [path, value] of PEERS[name] ?? []) {
    replace(document, ["spec", ...path], asYaml(`.Values.networkPolicies.${value}`));
  }
  const enabled = ".Values.networkPolicies.enabled";
  return { file: "network-policies", condition: isShared ? enabled : `and (${IS_CLUSTER}) ${enabled}`, document };
}

/** A rule for all our pods; users of kustomize write their own policy instead. */
export function extraEgress(closed: Manifest): Part {
  const document = copied(closed);
  replace(document, ["metadata", "name"], "flockmail-extra");
  document.spec = {
    podSelector: valueAt(closed, "spec", "podSelector") as Node,
    policyTypes: ["Egress"],
    egress: asYaml(".Values.networkPolicies.extraEgress"),
  };
  const condition = "and .Values.networkPolicies.enabled .Values.networkPolicies.extraEgress";
  return { file: "network-policies", condition, document };
}
