/** What whoever writes a template should know of it, in sentences: nothing here refuses anything. */
import { costlyRead, isTooCostly } from "../../models/database/bulk.ts";
import { type Client, queryOne } from "../../models/database/db.ts";
import { nearestField } from "../lib/unknown-fields.ts";
import type { Facts } from "./bodies/facts.ts";
import { isBuiltIn } from "./program/scope.ts";

/** Gmail shows so much of a mail, and a link to the rest. */
const CLIPPED_BYTES = 102 * 1024;
/** Nobody reads on, and each costs a look through the subscribers. */
const MAX_NAMES = 20;
const LOOK_MS = 1_500;

const COMPANY_VARIABLES = ["company.name", "company.footer_text"];
const PERSON = ["email", "first_name", "last_name", "unsubscribe_url", "view_in_browser_url", "preferences_url"];

// Of a name that many have, the first one found ends the look; one that nobody has costs 0.4 s among a million.
const ATTRIBUTES = `
  select
    array(select name from unnest($2::text[]) name
      where exists (select from subscribers s where s.company_id = $1 and s.attributes ? name)) as known,
    array(select distinct name from (
        select attributes from subscribers where company_id = $1 and attributes <> '{}' order by id desc limit 200) s,
      jsonb_object_keys(s.attributes) name limit 500) as in_use`;

interface Attributes {
  /** Of the names that were asked for. */
  known: readonly string[];
  /** Of the newest subscribers. */
  in_use: readonly string[];
}

/** Undefined where they could not be looked through in time. */
async function attributesOf(companyId: string, names: readonly string[]): Promise<Attributes | undefined> {
  const read = (client: Client) => queryOne<Attributes>(ATTRIBUTES, [companyId, names], client);
  try {
    return await costlyRead(companyId, read, { statementMs: LOOK_MS, waitMs: LOOK_MS });
  } catch (error) {
    if (!isTooCostly(error)) throw error;
    return undefined;
  }
}

/** A name with a dot may be a whole name, or a field of what the first part names. */
const rootOf = (name: string) => name.split(".", 1)[0]!;

async function unknownVariables(
  companyId: string,
  names: readonly string[],
  given: readonly string[],
): Promise<string[]> {
  const open = names
    .filter((name) => !isBuiltIn(name) && !COMPANY_VARIABLES.includes(name))
    .filter((name) => !given.includes(name) && !given.includes(rootOf(name)))
    .slice(0, MAX_NAMES);
  if (open.length === 0) return [];
  const attributes = await attributesOf(companyId, [...new Set(open.flatMap((name) => [name, rootOf(name)]))]);
  if (!attributes) return [];
  const known = new Set(attributes.known);
  const candidates = [...PERSON, ...given, ...attributes.in_use];
  return open
    .filter((name) => !known.has(name) && !known.has(rootOf(name)))
    .map((name) => {
      const nearest = nearestField(name, candidates);
      const hint = nearest ? ` Did you mean [[${nearest}]]?` : " Only receivers of a send that bring it have it.";
      return `No subscriber has the variable [[${name}]].${hint}`;
    });
}

interface Described {
  facts: Facts;
  htmlBytes: number;
  isTransactional: boolean;
  /** Variables that the request brings. */
  given?: readonly string[];
}

export async function templateWarnings(companyId: string, described: Described): Promise<string[]> {
  const { facts, htmlBytes, isTransactional, given = [] } = described;
  const warnings = await unknownVariables(companyId, facts.variables, given);
  if (htmlBytes > CLIPPED_BYTES) {
    warnings.push(
      `The HTML has ${Math.ceil(htmlBytes / 1024)} KB. Gmail shows the first 102 KB of a mail and hides the rest, the way to unsubscribe included.`,
    );
  }
  if (!isTransactional && !facts.showsUnsubscribe) {
    warnings.push("No visible way to unsubscribe: a footer with [[unsubscribe_url]] is added to each mail.");
  }
  return warnings;
}
