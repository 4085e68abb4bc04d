/** Bytes on disk by table and index: what grew while something was written. */

/** Tables with what of them lies in TOAST; their indexes by themselves. */
const SIZES = `
  select relname as name, (case relkind when 'i' then pg_relation_size(oid) else pg_table_size(oid) end)::float8 as bytes
  from pg_class where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace`;

export interface Size {
  name: string;
  bytes: number;
}

export type Sizes = ReadonlyMap<string, number>;

export async function sizesNow(ask: (sql: string) => Promise<Size[]>): Promise<Sizes> {
  return new Map((await ask(SIZES)).map(({ name, bytes }) => [name, bytes]));
}

/** For each of `written`: what grew by a byte or more, largest first, and all of it. */
export function grown(before: Sizes, after: Sizes, written: number): { bytes: number; by: Size[] } {
  const by = [...after]
    .map(([name, bytes]) => ({ name, bytes: (bytes - (before.get(name) ?? 0)) / written }))
    .filter(({ bytes }) => bytes >= 1)
    .sort((a, b) => b.bytes - a.bytes);
  return { bytes: by.reduce((sum, one) => sum + one.bytes, 0), by };
}
