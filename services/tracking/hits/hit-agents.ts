/**
 * The numbers by which rows of hits name their company and what the browser said it is. Both are looked up once and remembered:
 * a campaign is read by a hundred kinds of programs, and opened a million times.
 */
import { LRUCache } from "lru-cache";
import { type Client, prepared } from "../../../models/database/db.ts";

/** Characters of all that is remembered: whoever sends a new name with each hit must not take more. */
const MAX_CHARACTERS = 4_000_000;
/** An agent of which nothing is kept any more is removed, and gets another number when it comes back. */
const REMEMBERED_MS = 300_000;

interface Asked {
  companyId: string;
  agent: string;
  at: Date;
}
interface Numbers {
  companyNo: number;
  agentNo: number;
}

const FIND = `
  select a.n::int as n, o.no as company_no, h.no as agent_no
  from unnest($1::uuid[], $2::text[], $3::date[]) with ordinality a (company_id, agent, month, n)
  join companies o on o.id = a.company_id
  join hit_agents h on h.company_id = a.company_id and h.hash = md5(a.agent)::uuid and h.month >= a.month`;

// In the order of the key: two that add the same agents must not wait for each other in a circle.
const ADD = `
  insert into hit_agents as h (company_id, hash, agent, month)
  select o.id, md5(a.agent)::uuid, min(a.agent), max(a.month)
  from unnest($1::uuid[], $2::text[], $3::date[]) a (company_id, agent, month) join companies o on o.id = a.company_id
  group by 1, 2 order by 1, 2
  on conflict (company_id, hash) do update set month = excluded.month where h.month < excluded.month`;

const DAY_MS = 86_400_000;
/** The day that was asked for last: all hits of a batch are of one, and a date is written slowly. */
let last = { day: Number.NaN, month: "" };

function monthOf(at: Date): string {
  const day = Math.floor(at.getTime() / DAY_MS);
  if (day !== last.day) last = { day, month: `${at.toISOString().slice(0, 7)}-01` };
  return last.month;
}

const keyOf = ({ companyId, agent, at }: Asked) => `${companyId} ${monthOf(at)} ${agent}`;

export class HitAgents {
  readonly #known = new LRUCache<string, Numbers>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_numbers, key) => key.length,
    ttl: REMEMBERED_MS,
  });

  /** By the place in `asked`; undefined where the company is gone. What is found in a transaction may yet be undone, and is not remembered. */
  async of(asked: readonly Asked[], client?: Client): Promise<(Numbers | undefined)[]> {
    const found = new Map<string, Numbers>();
    const missing = new Map<string, Asked>();
    const keys = asked.map(keyOf);
    for (const [n, key] of keys.entries()) {
      if (found.has(key) || missing.has(key)) continue;
      const numbers = this.#known.get(key);
      if (numbers) found.set(key, numbers);
      else missing.set(key, asked[n]!);
    }
    if (missing.size > 0) for (const [key, numbers] of await this.#lookUp(missing, client)) found.set(key, numbers);
    return keys.map((key) => found.get(key));
  }

  async #lookUp(missing: ReadonlyMap<string, Asked>, client?: Client): Promise<Map<string, Numbers>> {
    const found = new Map<string, Numbers>();
    for (const added of [false, true]) {
      const left = [...missing.values()].filter((one) => !found.has(keyOf(one)));
      if (left.length === 0) break;
      const values = [
        left.map(({ companyId }) => companyId),
        left.map(({ agent }) => agent),
        left.map(({ at }) => monthOf(at)),
      ];
      if (added) await prepared("add agents", ADD, values, client);
      const rows = await prepared<{ n: number; company_no: number; agent_no: number }>(
        "find agents",
        FIND,
        values,
        client,
      );
      for (const { n, company_no, agent_no } of rows) {
        const key = keyOf(left[n - 1]!);
        found.set(key, { companyNo: company_no, agentNo: agent_no });
        if (!client) this.#known.set(key, found.get(key)!);
      }
    }
    return found;
  }
}
