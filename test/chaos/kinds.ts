/**
 * The faults of the chaos suite, as data: how often each is drawn, whom it may strike, and what goes on without those that
 * it takes away. What is spared must be back within the bounds of report.ts counted from the fault's begin, the rest
 * counted from its end.
 */
export const SENDERS = ["sender-1", "sender-2", "sender-3"] as const;
export const CORES = ["core-1", "core-2"] as const;
export const PROCESSES = ["gateway", ...CORES, ...SENDERS] as const;
export const SERVERS = ["postgres", "redis", "nats"] as const;
export type ProcessName = (typeof PROCESSES)[number];
export type ServerName = (typeof SERVERS)[number];

export interface FaultKind {
  name: KindName;
  weight: number;
  targets: readonly string[];
  longestMs?: number;
}

export const LINKS = PROCESSES.flatMap((name) => SERVERS.map((server) => `${name}>${server}`));
/** The gateway asks the services, never the database: that link may break unnoticed. */
const LINKS_IN_USE = LINKS.filter((link) => link !== "gateway>postgres");
/** Whoever is cut off from the database may hold locks there: these are struck three times as often as others. */
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
  { name: "Redis emptied", weight: 1, targets: ["redis"], longestMs: 1_000 },
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
  /** Mail of companies goes on leaving. */
  sending: boolean;
  /** The API goes on answering. */
  api: boolean;
}

/** There is one gateway, one of each server, two of the other services and three senders. */
export function sparedBy(target: string): Spared {
  const [name, server] = target.split(">");
  if (name === "mail") return { sending: false, api: true };
  if (name === "hooks") return { sending: true, api: true };
  if (server) return { sending: true, api: name !== "gateway" || server !== "nats" };
  if (name === "gateway") return { sending: true, api: false };
  if (name === "postgres") return { sending: false, api: false };
  // Senders go on without them; the gateway reaches nobody without NATS.
  if (name === "nats") return { sending: true, api: false };
  return { sending: true, api: true };
}
