/** Searches a whole database for an address: each column of each table as text, as in a dump. */
import { query } from "../../models/database/db.ts";

const TABLES = `
  select c.relname as name, string_agg(
    format(case when a.atttypid = 'bytea'::regtype then 'coalesce(encode(%I, ''escape''), '''')' else 'coalesce(%I::text, '''')' end,
      a.attname), ' || '' '' || ') as text
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by 1 order by 1`;

/** Matching rows per table; partitions of recipients count as one table. */
export async function rowsWith(address: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { name, text } of await query<{ name: string; text: string }>(TABLES)) {
    const sql = `select count(*)::int as n from ${name} where strpos(lower(${text}), lower($1)) > 0`;
    const [row] = await query<{ n: number }>(sql, [address]);
    const table = name.replace(/^sent_emails_\d+$/, "sent_emails");
    if (row!.n > 0) found[table] = (found[table] ?? 0) + row!.n;
  }
  return found;
}
