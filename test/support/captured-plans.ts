/**
 * Captures the query plans of all reads in a piece of work, with the rows that each node touched. Runs each statement
 * once more by EXPLAIN ANALYZE, with the same values and in the same transaction.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { query } from "../../models/database/db.ts";

export interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: PlanNode[];
}

export interface Plan {
  text: string;
  root: PlanNode;
  ms: number;
}

interface Asked {
  text: string;
  values: unknown[];
}

type Ask = (this: pg.Client, ...given: unknown[]) => unknown;
type Explained = { rows: { "QUERY PLAN": { Plan: PlanNode; "Execution Time": number }[] }[] };

const READS = /^\s*(?:select|with)\b/i;
const WRITES = /\b(?:insert into|update \w+ (?:\w+ )?set|delete from)\b|set_config/i;

const explain = (text: string) => `explain (analyze, buffers, timing off, format json) ${text}`;

function askedBy(given: unknown[]): Asked | undefined {
  const [first, values] = given;
  if (typeof first === "string") return { text: first, values: Array.isArray(values) ? values : [] };
  const { text, values: own } = first as { text?: unknown; values?: unknown[] };
  return typeof text === "string" ? { text, values: own ?? (Array.isArray(values) ? values : []) } : undefined;
}

const planOf = (text: string, { rows }: Explained): Plan => {
  const { Plan: root, "Execution Time": ms } = rows[0]!["QUERY PLAN"][0]!;
  return { text, root, ms };
};

/** Active until `stop`; statements outside of `of` pass unchanged. */
export function capturePlans() {
  const store = new AsyncLocalStorage<{ plans: Plan[]; later: Asked[] }>();
  const ask = pg.Client.prototype.query as unknown as Ask;
  const capturing: Ask = function (...given) {
    const found = store.getStore();
    const asked = found && askedBy(given);
    const done = ask.apply(this, given);
    if (!asked || !READS.test(asked.text) || WRITES.test(asked.text)) return done;
    if (!(done instanceof Promise)) {
      found.later.push(asked);
      return done;
    }
    return done.then(async (result) => {
      found.plans.push(planOf(asked.text, (await ask.call(this, explain(asked.text), asked.values)) as Explained));
      return result;
    });
  };
  Object.assign(pg.Client.prototype, { query: capturing });
  return {
    async of(work: () => Promise<unknown>): Promise<Plan[]> {
      const found = { plans: [] as Plan[], later: [] as Asked[] };
      try {
        await store.run(found, work);
      } finally {
        for (const { text, values } of found.later) {
          const rows = await query<Explained["rows"][number]>(explain(text), values);
          found.plans.push(planOf(text, { rows }));
        }
      }
      return found.plans;
    },
    stop: () => Object.assign(pg.Client.prototype, { query: ask }),
  };
}

export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

export const buffersOf = ({ root }: Plan): number => root["Shared Hit Blocks"] + root["Shared Read Blocks"];

const REMOVED = ["Rows Removed by Filter", "Rows Removed by Index Recheck", "Rows Removed by Join Filter"] as const;

/** Rows that the node read, over all its loops. */
export const rowsOf = (node: PlanNode): number =>
  (node["Actual Rows"] + REMOVED.reduce((sum, name) => sum + (node[name] ?? 0), 0)) * node["Actual Loops"];
