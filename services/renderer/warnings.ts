/** Warns authors of templates. Nothing here refuses anything. */

import { costlyRead, isTooCostly } from "../../models/database/bulk.ts";
import { type Client, query, queryOne } from "../../models/database/db.ts";
import { CLIPPED_BYTES } from "../lib/mail-check/finding.ts";
import { nearestField } from "../lib/unknown-fields.ts";
import type { Facts } from "./bodies/facts.ts";
import { isBuiltIn } from "./program/scope.ts";

/** Maximum names, because each costs a scan of the subscribers. */
const MAX_NAMES = 20;
const READ_TIMEOUT_MS = 1_500;

const COMPANY_VARIABLES = ["company.name", "company.footer_text"];
const PERSON = ["email", "first_name", "last_name", "unsubscribe_url", "view_in_browser_url", "preferences_url"];

// Stops at the first subscriber with the name; an unused name scans all of them.
const ATTRIBUTES = `
  select
    array(select name from unnest($2::text[]) name
      where exists (select from subscribers s where s.company_id = $1 and s.attributes ? name)) as known,
    array(select distinct name from (
        select attributes from subscribers where company_id = $1 and attributes <> '{}' order by id desc limit 200) s,
      jsonb_object_keys(s.attributes) name limit 500) as in_use`;

interface Attributes {
  /** Requested names. */
  known: readonly string[];
  /** Sample of the newest subscribers. */
  in_use: readonly string[];
}

/** Undefined if the read takes too long. */
async function inTime<T>(companyId: string, read: (client: Client) => Promise<T>): Promise<T | undefined> {
  try {
    return await costlyRead(companyId, read, { statementMs: READ_TIMEOUT_MS, waitMs: READ_TIMEOUT_MS });
  } catch (error) {
    if (!isTooCostly(error)) throw error;
    return undefined;
  }
}

const attributesOf = (companyId: string, names: readonly string[]) =>
  inTime(companyId, (client) => queryOne<Attributes>(ATTRIBUTES, [companyId, names], client));

/** Spelling of a case-insensitive name; emails resolve it by the same rule (program/scope.ts). */
const spellingIn = (names: readonly string[], name: string): string | undefined =>
  names.includes(name) ? name : names.find((other) => other.toLowerCase() === name.toLowerCase());

/** A name with a dot may be a whole name, or a field of what the first part names. */
const rootOf = (name: string) => name.split(".", 1)[0]!;

async function unknownVariables(
  companyId: string,
  names: readonly string[],
  given: readonly string[],
): Promise<string[]> {
  const open = names
    .filter((name) => !isBuiltIn(name) && !COMPANY_VARIABLES.includes(name))
    .filter((name) => !spellingIn(given, name) && !spellingIn(given, rootOf(name)))
    .slice(0, MAX_NAMES);
  if (open.length === 0) return [];
  const attributes = await attributesOf(companyId, [...new Set(open.flatMap((name) => [name, rootOf(name)]))]);
  if (!attributes) return [];
  const knownNames = [...attributes.known, ...attributes.in_use];
  const candidates = [...PERSON, ...given, ...attributes.in_use];
  return open
    .filter((name) => !spellingIn(knownNames, name) && !spellingIn(knownNames, rootOf(name)))
    .map((name) => {
      const nearest = nearestField(name, candidates);
      const hint = nearest ? ` Did you mean [[${nearest}]]?` : " It stays empty unless the send gives a value.";
      return `No subscriber has the variable [[${name}]].${hint}`;
    });
}

// A name with a dot is a whole name, or a path into an attribute. Each person is read once for all names.
const WITHOUT = `
  select n.name, count(*)::int as without from subscribers s cross join unnest($2::text[]) n (name)
  where s.company_id = $1 and s.status = 'active'
    and ($3::uuid is null or exists (select from list_members m
      where m.company_id = $1 and m.list_id = $3 and m.subscriber_id = s.id and m.left_at is null))
    and case n.name when 'first_name' then s.first_name when 'last_name' then s.last_name
      else coalesce(s.attributes ->> n.name, s.attributes #>> string_to_array(n.name, '.'), '') end in ('', '[]', '{}')
  group by n.name`;

const OF_PERSON = ["first_name", "last_name"];

/** Variables without a value for some subscribers, with their number if it can be counted in time. */
async function gapWarnings(companyId: string, { facts, given = [], audience = {} }: Described): Promise<string[]> {
  const { listId = null } = audience;
  const ownNames = facts.bare
    .filter((name) => !isBuiltIn(name) && !COMPANY_VARIABLES.includes(name))
    .slice(0, MAX_NAMES);
  const found =
    ownNames.length === 0 ? undefined : await attributesOf(companyId, ownNames.map(rootOf).concat(ownNames));
  const attributes = found ? [...found.known, ...found.in_use] : [];
  const spellings = new Map(
    facts.bare.flatMap((name) => {
      const root = rootOf(name);
      const rooted = spellingIn(attributes, root);
      const spelling =
        spellingIn(OF_PERSON, name) ?? spellingIn(attributes, name) ?? (rooted && rooted + name.slice(root.length));
      return spelling ? [[name, spelling] as const] : [];
    }),
  );
  const names = [...spellings.keys()];
  if (names.length === 0) return [];
  const rows = await inTime(companyId, (client) =>
    query<{ name: string; without: number }>(WITHOUT, [companyId, [...new Set(spellings.values())], listId], client),
  );
  const where = listId === null ? "" : " on this list";
  return names.flatMap((name) => {
    const without = rows?.find((row) => row.name === spellings.get(name))?.without ?? 0;
    if (rows && without === 0) return [];
    const count = without === 1 ? "1 person" : `${without} people`;
    const have = without === 1 ? "has" : "have";
    const gap = rows
      ? `${count}${where} ${have} no [[${name}]], so their email has a gap there.`
      : `Some people may have no [[${name}]], which leaves a gap in their email.`;
    const shown = spellingIn(given, name) ? " The preview shows a value." : "";
    return `${gap} Use [[${name}|default:…]], or put it into [[#if ${name}]]…[[/if]].${shown}`;
  });
}

/** Maximum listed in a warning. */
const MAX_NAMED = 10;

function linkWarnings({ brokenLinks }: Facts): string[] {
  const warnings = brokenLinks.slice(0, MAX_NAMED).map(({ address, meant }) => {
    const shown = address.trim().slice(0, 200).toWellFormed();
    const help =
      meant === undefined
        ? "Use the full address, starting with https://."
        : `Use "${meant.slice(0, 250).toWellFormed()}" instead.`;
    return `The address "${shown}" does not open from an email. ${help}`;
  });
  return brokenLinks.length > MAX_NAMED
    ? [...warnings, `${brokenLinks.length - MAX_NAMED} more addresses do not open from an email.`]
    : warnings;
}

/** The people it is meant for; else all of the company's. */
export interface Audience {
  listId?: string | undefined;
  /** Values come with the request. */
  isToReceivers?: boolean | undefined;
}

interface Described {
  facts: Facts;
  htmlBytes: number;
  isTransactional: boolean;
  /** Variables that the request brings. */
  given?: readonly string[];
  audience?: Audience;
}

export async function templateWarnings(companyId: string, described: Described): Promise<string[]> {
  const { facts, htmlBytes, isTransactional, given = [] } = described;
  const warnings = [
    ...facts.warnings,
    ...linkWarnings(facts),
    ...(await unknownVariables(companyId, facts.variables, given)),
    // The values of a transactional mail come with its request.
    ...(isTransactional || described.audience?.isToReceivers ? [] : await gapWarnings(companyId, described)),
  ];
  if (htmlBytes > CLIPPED_BYTES) {
    warnings.push(
      `The HTML has ${Math.ceil(htmlBytes / 1024)} KB. Gmail shows the first 102 KB of a mail and hides the rest, including the unsubscribe link.`,
    );
  }
  if (!isTransactional && !facts.showsUnsubscribe) {
    warnings.push("No visible unsubscribe link: a footer with [[unsubscribe_url]] is added to each mail.");
  }
  return warnings;
}
