/**
 * A mail server says the same to everyone but for a queue id: rows keep the number of what it says (reply_patterns), and the
 * part that differs. Patterns are learnt as replies come: until one is known, the whole text stands in the row. A company
 * has so many of them at most; what goes beyond is kept whole, too.
 */
import { LRUCache } from "lru-cache";
import { atMost } from "../../lib/at-most.ts";
import type { PinnedConnection } from "../engine/pinned-connection.ts";

const MAX_PATTERNS = 200;
const MAX_COMPANIES = 2_000;
/** Stands for the part that differs; a text that has one itself is kept whole. */
const MARK = "\x1f";
/** What looks like an id: six or more characters with a digit among them, but no status code and no address. */
const TOKEN = /(?<![\w.@-])(?=[\w.+-]*\d)(?!\d\.\d{1,3}\.\d{1,3}(?![\w.+-]))[\w.+-]{6,}(?![\w@.-])/g;

interface Split {
  pattern: string;
  rest: string;
}

/** Undefined where nothing would be saved. */
export function splitReply(text: string): Split | undefined {
  if (text.includes(MARK)) return undefined;
  const rest: string[] = [];
  const pattern = text.replace(TOKEN, (token) => {
    rest.push(token);
    return MARK;
  });
  // Fewer characters than a short row has to spare.
  return pattern.length < 4 ? undefined : { pattern, rest: rest.join(MARK) };
}

interface Known {
  numbers: Map<string, number>;
  isFull: boolean;
}

export interface StoredReply {
  no: number | null;
  text: string | null;
}

const LEARN = `
  with new as (
    insert into reply_patterns (company_id, no, pattern)
    select $1, (select coalesce(max(no), 0) from reply_patterns where company_id = $1) + n, pattern
    from (select pattern, row_number() over () as n from unnest($2::text[]) pattern
      where pattern not in (select pattern from reply_patterns where company_id = $1)) p
    where (select count(*) from reply_patterns where company_id = $1) + n <= ${MAX_PATTERNS}
    on conflict do nothing
    returning no, pattern)
  select no, pattern from reply_patterns where company_id = $1 union select no, pattern from new`;

/** Of this process: patterns only ever come to a company, so a stale copy is merely short. */
export class ReplyPatterns {
  readonly #companies = new LRUCache<string, Known>({ ...atMost(MAX_COMPANIES) });
  /** Seen and not known, by company. */
  readonly #unknown = new Map<string, Set<string>>();

  /** What a compact row keeps of this reply. */
  stored(companyId: string, text: string | null): StoredReply {
    const split = text === null ? undefined : splitReply(text);
    if (!split) return { no: null, text };
    const known = this.#companies.get(companyId);
    const no = known?.numbers.get(split.pattern);
    if (no !== undefined) return { no, text: split.rest === "" ? null : split.rest };
    if (!known?.isFull) {
      const unknown = this.#unknown.get(companyId) ?? new Set();
      if (unknown.size < MAX_PATTERNS) this.#unknown.set(companyId, unknown.add(split.pattern));
    }
    return { no: null, text };
  }

  /** Stores what was seen and not known. Where that fails, the next reply of its kind asks for it again. */
  async learn(connection: PinnedConnection): Promise<void> {
    const unknown = [...this.#unknown];
    this.#unknown.clear();
    for (const [companyId, patterns] of unknown) {
      const rows = await connection.run<{ no: number; pattern: string }>("learn-replies", LEARN, [
        companyId,
        [...patterns],
      ]);
      const numbers = new Map(rows.map(({ no, pattern }) => [pattern, no]));
      this.#companies.set(companyId, { numbers, isFull: numbers.size >= MAX_PATTERNS });
    }
  }
}
