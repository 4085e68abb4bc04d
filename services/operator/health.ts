/** Each node in its own words: what it serves, whether it is ready, and what it cannot reach. */
import type { NodeReport } from "../../mixins/health.middleware.ts";
import type { ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";

const ANSWER_WITHIN_MS = 3_000;
const MEBIBYTE = 1024 * 1024;

type Line = ReturnsOf<"operator.health">[number];

interface Node {
  id: string;
  services?: { name: string }[];
}

const servicesOf = ({ services = [] }: Node) =>
  services.map(({ name }) => name).filter((name) => !name.startsWith("$"));

async function told(ctx: Ctx, node: Node): Promise<Line> {
  const services = servicesOf(node).sort().join(" ");
  try {
    const options = { nodeID: node.id, timeout: ANSWER_WITHIN_MS };
    const { ready, state, database, redis, nats, uptime_seconds, memory_bytes } = (await ctx.call(
      "$node.ready",
      {},
      options,
    )) as NodeReport;
    const memory_mib = Math.round(memory_bytes / MEBIBYTE);
    return { node: node.id, services, ready, state, database, redis, nats, uptime_seconds, memory_mib };
  } catch {
    const unknown = { database: "?", redis: "?", nats: "?", uptime_seconds: null, memory_mib: null };
    return { node: node.id, services, ready: false, state: "no answer", ...unknown };
  }
}

/** Consoles are left out: they serve nobody. */
export async function healthNow(ctx: Ctx): Promise<Line[]> {
  const nodes = (await ctx.call("$node.list", { withServices: true, onlyAvailable: true })) as Node[];
  const serving = nodes.filter((node) => servicesOf(node).length > 0).toSorted((a, b) => a.id.localeCompare(b.id));
  return Promise.all(serving.map((node) => told(ctx, node)));
}
