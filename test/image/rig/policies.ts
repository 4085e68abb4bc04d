/**
 * Converts NetworkPolicies to nftables rules of one pod: a direction that any policy selects is closed except for what
 * selecting policies allow. Kubelet probes and answers always pass.
 */
import type { Manifest } from "../../support/kustomize.ts";
import { ADDRESS, POD_NETWORK } from "./network.ts";

interface Selector {
  matchLabels?: Record<string, string>;
}
interface Peer {
  ipBlock?: { cidr: string; except?: string[] };
  namespaceSelector?: Selector;
  podSelector?: Selector;
}
interface PolicyPort {
  protocol?: string;
  port: number | string;
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: PolicyPort[];
}
export interface PolicySpec {
  podSelector: Selector;
  policyTypes: ("Ingress" | "Egress")[];
  ingress?: Rule[];
  egress?: Rule[];
}

export interface Selected {
  labels: Record<string, string>;
  /** Numbers of its named ports. */
  ports: Record<string, number>;
}

/** Other namespaces of the cluster, with the address that represents them. */
const NAMESPACES: { labels: Record<string, string>; address: string }[] = [
  { labels: { "kubernetes.io/metadata.name": "ingress", "flockmail/ingress": "true" }, address: ADDRESS.ingress },
  { labels: { "kubernetes.io/metadata.name": "monitoring" }, address: ADDRESS.monitoring },
];

const matches = ({ matchLabels = {} }: Selector, labels: Record<string, string>) =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value);

/** Match expressions before `accept`. Empty if nothing in this cluster matches. */
function peer({ ipBlock, namespaceSelector, podSelector }: Peer, side: "saddr" | "daddr"): string[] {
  if (podSelector) throw new Error("Pods by their labels are not among what these rules can say yet");
  if (ipBlock) {
    const family = ipBlock.cidr.includes(":") ? "ip6" : "ip";
    const except = ipBlock.except?.length ? ` ${family} ${side} != { ${ipBlock.except.join(", ")} }` : "";
    return [`${family} ${side} ${ipBlock.cidr}${except}`];
  }
  const isAny = Object.keys(namespaceSelector!.matchLabels ?? {}).length === 0;
  if (isAny) return [`ip ${side} ${POD_NETWORK}`];
  return NAMESPACES.filter(({ labels }) => matches(namespaceSelector!, labels)).map(
    ({ address }) => `ip ${side} ${address}`,
  );
}

function port({ protocol = "TCP", port }: PolicyPort, ports: Selected["ports"]): string[] {
  const number = typeof port === "number" ? port : ports[port];
  return number === undefined ? [] : [`${protocol.toLowerCase()} dport ${number}`];
}

function accepting(rules: Rule[], side: "saddr" | "daddr", ports: Selected["ports"]): string[] {
  return rules.flatMap(({ from, to, ports: wanted }) => {
    const peers = (from ?? to)?.flatMap((one) => peer(one, side)) ?? [""];
    const doors = wanted?.flatMap((one) => port(one, ports)) ?? [""];
    return peers.flatMap((who) => doors.map((door) => `${who} ${door} accept`.trim()));
  });
}

export function rulesFor(pod: Selected, manifests: Manifest[]): string {
  const selecting = manifests
    .filter(({ kind }) => kind === "NetworkPolicy")
    .map(({ spec }) => spec as PolicySpec)
    .filter(({ podSelector }) => matches(podSelector, pod.labels));
  const closed = (type: "Ingress" | "Egress") =>
    selecting.some(({ policyTypes }) => policyTypes.includes(type)) ? "drop" : "accept";
  const incoming = selecting.flatMap(({ ingress = [] }) => accepting(ingress, "saddr", pod.ports));
  const outgoing = selecting.flatMap(({ egress = [] }) => accepting(egress, "daddr", pod.ports));
  const chain = (name: string, hook: string, policy: string, device: string, rules: string[]) =>
    `  chain ${name} {
    type filter hook ${hook} priority 0; policy ${policy};
    ${[`${device} "lo" accept`, "ct state established,related accept", ...rules].join("\n    ")}
  }`;
  return `table inet policies
delete table inet policies
table inet policies {
${chain("incoming", "input", closed("Ingress"), "iifname", [`ip saddr ${ADDRESS.node} accept`, ...incoming])}
${chain("outgoing", "output", closed("Egress"), "oifname", outgoing)}
}
`;
}
