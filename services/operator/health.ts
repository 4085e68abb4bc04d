import { redis } from "../../mixins/redis.ts";
import { query } from "../../models/db.ts";
import type { ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../define.ts";

type Line = ReturnsOf<"operator.health">[number];

async function timed(what: string, question: () => Promise<unknown>): Promise<Line> {
  const started = performance.now();
  try {
    await question();
    return { what, ok: true, detail: `${(performance.now() - started).toFixed(1)} ms` };
  } catch (error) {
    return { what, ok: false, detail: (error as Error).message };
  }
}

interface Node {
  id: string;
  available: boolean;
  cpu: number | null;
  services?: { name: string }[];
}

/** As this node sees it: its database, Redis, and every node it knows. */
export async function healthNow(ctx: Ctx): Promise<Line[]> {
  const nodes = (await ctx.call("$node.list", { withServices: true })) as Node[];
  const counts = redis();
  return [
    await timed("PostgreSQL", () => query("select 1")),
    counts
      ? await timed("Redis", () => counts.ping())
      : { what: "Redis", ok: true, detail: "not configured, limits are counted in the process" },
    ...nodes.map(({ id, available, cpu, services = [] }) => ({
      what: `node ${id}`,
      ok: available,
      detail: `${services
        .map(({ name }) => name)
        .filter((name) => !name.startsWith("$"))
        .join(", ")}${cpu === null ? "" : `; ${cpu} % CPU`}`,
    })),
  ];
}
