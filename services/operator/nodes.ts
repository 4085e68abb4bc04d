/** Collects the nodes' reports of themselves. A node that times out has none. */
import type { NodeReport } from "../../mixins/health.middleware.ts";
import type { ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";

const TIMEOUT_MS = 3_000;
const MEBIBYTE = 1024 * 1024;

interface ListedNode {
  id: string;
  services?: { name: string }[];
}

export interface Node {
  id: string;
  services: string[];
  report: NodeReport | undefined;
  /** Clock of this process, in milliseconds since 1970. */
  askedAtMs: number;
  answeredAtMs: number;
}

const servicesOf = ({ services = [] }: ListedNode) =>
  services
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("$"))
    .sort();

/** Leaves consoles out: they serve nobody. `vitals` adds each node's use of CPU and memory. */
export async function nodes(ctx: Ctx, ask: { vitals: boolean }): Promise<Node[]> {
  const listed = (await ctx.call("$node.list", { withServices: true, onlyAvailable: true })) as ListedNode[];
  const serving = listed.filter((node) => servicesOf(node).length > 0).toSorted((a, b) => a.id.localeCompare(b.id));
  return Promise.all(
    serving.map(async (node) => {
      const askedAtMs = Date.now();
      const report = await ctx
        .call("$node.ready", ask, { nodeID: node.id, timeout: TIMEOUT_MS })
        .catch(() => undefined);
      return {
        id: node.id,
        services: servicesOf(node),
        report: report as NodeReport | undefined,
        askedAtMs,
        answeredAtMs: Date.now(),
      };
    }),
  );
}

type NodeHealth = ReturnsOf<"operator.health">[number];

function healthOf({ id, services, report }: Node): NodeHealth {
  const shown = { node: id, services: services.join(" ") };
  if (!report) {
    const answered = { database: "?", redis: "?", nats: "?", database_ms: null, redis_ms: null, nats_ms: null };
    return { ...shown, ready: false, state: "no answer", ...answered, uptime_seconds: null, memory_mib: null };
  }
  const { ready, state, database, redis, nats, uptime_seconds, memory_bytes, latency_ms } = report;
  return {
    ...shown,
    ready,
    state,
    database,
    redis,
    nats,
    database_ms: latency_ms.database,
    redis_ms: latency_ms.redis,
    nats_ms: latency_ms.nats,
    uptime_seconds,
    memory_mib: Math.round(memory_bytes / MEBIBYTE),
  };
}

export const health = async (ctx: Ctx): Promise<NodeHealth[]> => (await nodes(ctx, { vitals: false })).map(healthOf);
