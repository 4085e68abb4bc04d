/**
 * Resolves attribute names as people write them. A name in different case means an existing attribute if exactly one
 * matches case-insensitively. Emails resolve theirs by the same rule per person (services/renderer/program/scope.ts).
 */
import { costlyRead, isTooCostly } from "../database/bulk.ts";
import { query } from "../database/db.ts";

// Reads only the newest subscribers, so that the cost does not depend on how many there are.
const IN_USE = `
  select distinct name from (
    select attributes from subscribers where company_id = $1 order by id desc limit 2000) s, jsonb_object_keys(s.attributes) name
  order by name limit 500`;

export const attributesInUse = async (companyId: string): Promise<string[]> =>
  (await query<{ name: string }>(IN_USE, [companyId])).map(({ name }) => name);

const KNOWN = `
  select name from unnest($2::text[]) name
  where exists (select from subscribers s where s.company_id = $1 and s.attributes ? name)`;

/** An unused name is searched in all people; if that takes longer, every name stays unchanged. */
const READ_TIMEOUT_MS = 1_500;

/** The attributes meant by these names, if spelled differently. */
export async function spellingsOf(companyId: string, names: readonly string[]): Promise<Map<string, string>> {
  const spellings = new Map<string, string>();
  if (names.length === 0) return spellings;
  const inUse = await attributesInUse(companyId);
  for (const name of names) {
    if (inUse.includes(name)) continue;
    const others = inUse.filter((other) => other.toLowerCase() === name.toLowerCase());
    if (others.length === 1) spellings.set(name, others[0]!);
  }
  if (spellings.size === 0) return spellings;
  try {
    const known = await costlyRead(
      companyId,
      (client) => query<{ name: string }>(KNOWN, [companyId, [...spellings.keys()]], client),
      { statementMs: READ_TIMEOUT_MS, waitMs: READ_TIMEOUT_MS },
    );
    for (const { name } of known) spellings.delete(name);
    return spellings;
  } catch (error) {
    if (!isTooCostly(error)) throw error;
    return new Map();
  }
}
