/**
 * The faults of the chaos suite as data: frequency, targets, and the abilities that survive them. Surviving abilities
 * must recover within the bounds of report.ts after the fault's start, others after its end.
 */

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}-${n + 1}`);

export const SENDERS = numbered("sender", 3);
export const CORES = numbered("core", 2);
export const GATEWAYS = numbered("gateway", 2);
export const NATS = numbered("nats", 3);
export const PROCESSES = [...GATEWAYS, ...CORES, ...SENDERS];
export const SERVERS = ["postgres", "redis", ...NATS];

export interface FaultKind {
  name: KindName;
  weight: number;
  targets: readonly string[];
  longestMs?: number;
}

export const LINKS = PROCESSES.flatMap((name) => SERVERS.map((server) => `${name}>${server}`));
/** Gateways call services and never the database, so that link is not needed. */
const LINKS_IN_USE = LINKS.filter((link) => !(link.startsWith("gateway") && link.endsWith(">postgres")));
/** A process cut off from the database may hold locks there, so these links break three times as often. */
const LINKS_BY_DANGER = LINKS_IN_USE.flatMap((link) => (link.endsWith(">postgres") ? [link, link, link] : [link]));

const define = <const T extends string>(
  kinds: readonly { name: T; weight: number; targets: readonly string[]; longestMs?: number }[],
) => kinds;

const table = define([
  { name: "killed", weight: 4, targets: PROCESSES, longestMs: 8_000 },
  { name: "frozen", weight: 5, targets: PROCESSES },
  { name: "stopped in order", weight: 3, targets: PROCESSES, longestMs: 4_000 },
  { name: "link held", weight: 4, targets: LINKS_BY_DANGER },
  { name: "link held to server", weight: 2, targets: LINKS_BY_DANGER },
  { name: "link held to client", weight: 2, targets: LINKS_BY_DANGER },
  { name: "link swallowed", weight: 4, targets: LINKS_BY_DANGER },
  { name: "link swallowed to server", weight: 2, targets: LINKS_BY_DANGER },
  { name: "link swallowed to client", weight: 2, targets: LINKS_BY_DANGER },
  { name: "link reset", weight: 2, targets: LINKS_BY_DANGER },
  { name: "link refused", weight: 2, targets: LINKS_BY_DANGER },
  { name: "link slow", weight: 2, targets: LINKS_BY_DANGER },
  { name: "server killed", weight: 3, targets: SERVERS, longestMs: 8_000 },
  { name: "server frozen", weight: 3, targets: SERVERS },
  { name: "server swallowed", weight: 2, targets: SERVERS },
  { name: "PostgreSQL fails over", weight: 2, targets: ["postgres"], longestMs: 5_000 },
  { name: "Redis emptied", weight: 1, targets: ["redis"], longestMs: 1_000 },
  { name: "Redis evicts half", weight: 1, targets: ["redis"], longestMs: 1_000 },
  { name: "Redis read-only", weight: 1, targets: ["redis"] },
  { name: "mail server slow", weight: 1, targets: ["mail"] },
  { name: "mail server drops connections", weight: 1, targets: ["mail"] },
  { name: "mail server answers 4xx", weight: 1, targets: ["mail"] },
  { name: "mail server refuses connections", weight: 1, targets: ["mail"] },
  { name: "webhook receiver away", weight: 1, targets: ["hooks"] },
  { name: "webhook receiver silent", weight: 1, targets: ["hooks"] },
]);

export type KindName = (typeof table)[number]["name"];
export const KINDS: readonly FaultKind[] = table;

export interface Spared {
  /** Companies' mail is still sent. */
  sending: boolean;
  /** The API still answers. */
  api: boolean;
}

/** There is one writable PostgreSQL and one Redis. Senders work without NATS; gateways need it to reach anything. */
export function sparedBy(target: string): Spared {
  const [name = "", server = ""] = target.split(">");
  if (name === "mail") return { sending: false, api: true };
  if (name === "postgres") return { sending: false, api: false };
  const isOnlyGateway = GATEWAYS.length === 1 && name.startsWith("gateway");
  const isOnlyNats = NATS.length === 1 && (server || name).startsWith("nats");
  if (server) return { sending: true, api: !(isOnlyGateway && isOnlyNats) };
  return { sending: true, api: !isOnlyGateway && !isOnlyNats };
}
