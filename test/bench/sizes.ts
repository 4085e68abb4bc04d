/** Bytes on disk by table and index, and their growth. */

/** Tables with their TOAST data; indexes separately. */
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

/** Growth per `written` row: everything that grew by at least a byte, largest first, and the total. */
export function grown(before: Sizes, after: Sizes, written: number): { bytes: number; by: Size[] } {
  const by = [...after]
    .map(([name, bytes]) => ({ name, bytes: (bytes - (before.get(name) ?? 0)) / written }))
    .filter(({ bytes }) => bytes >= 1)
    .sort((a, b) => b.bytes - a.bytes);
  return { bytes: by.reduce((sum, one) => sum + one.bytes, 0), by };
}
