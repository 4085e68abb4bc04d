/** Builds the statements of erasure-targets.ts: each runs one bounded step and returns where the next one begins. */
import { inAnyPart } from "../database/campaign-no.ts";

/** Rows written in one step. */
export const WRITTEN = 1_000;
/** Rows scanned per step if no index finds them. */
export const SCAN_SIZE = 5_000;

export interface ErasureTarget {
  /** Kind under which its rows are counted. */
  counted: ErasedKind;
  /** The cursor before the first row. */
  first?: string;
  /** Statement that runs before `sql` in the same transaction; $1 is the company. */
  before?: string;
  /**
   * $1 company, $2 the address's spellings in lower case, $3 cursor, $4 the address as a regular expression, $5 the
   * local part in lower case. Returns `n`, and `next`: the cursor of the next step, or null after the last. With
   * `mails`: emptied emails whose hits are deleted in the same transaction.
   */
  sql: string;
}

export const ERASED_KINDS = [
  "subscribers",
  "lists",
  "sent_emails",
  "copies",
  "events",
  "receivers",
  "webhook_deliveries",
  "inbound",
  "suppressions",
  "invitations",
  "idempotency_keys",
  "audit_log",
  "quotations",
] as const;
export type ErasedKind = (typeof ERASED_KINDS)[number];

/** Gives each parameter a type, whether or not the statement uses it. */
const TYPES = "types as (select $1::uuid, $2::text[], $3::text, $4::text, $5::text)";

const statement = (parts: string[], answer: string) => `with ${[TYPES, ...parts].join(",\n")}\n${answer}`;

/** Repeats a statement until it finds fewer rows than its limit. */
export const inSteps = (parts: string[], rows: string) =>
  statement(parts, `select count(*)::int as n, case when count(*) >= ${WRITTEN} then '' end as next from ${rows}`);

/** Scans rows in slices. `page` has the scanned rows in order; `key` is a row's cursor. */
export const walk = (parts: string[], rows: string, key: string, order: string, scanned = SCAN_SIZE) =>
  statement(
    parts,
    `select (select count(*)::int from ${rows}) as n,
       case when (select count(*) from page) >= ${scanned} then (select ${key} from page order by ${order} desc limit 1) end as next`,
  );

// lower() by bytes is far faster; $5 is empty for non-ASCII letters.
const quotes = (column: string) => `(strpos(lower(${column} collate "C"), $5) > 0 and ${column} ~* $4)`;
export const without = (column: string) => `regexp_replace(${column}, $4, '[erased]', 'gi')`;
export const anyQuotes = (...columns: string[]) => `coalesce(${columns.map(quotes).join(" or ")}, false)`;
export const unaddressed = (column: string) =>
  `nullif(array(select a from unnest(${column}) a where lower(a) <> all ($2)), '{}')`;

const EMPTIED = `email = '', subscriber_id = null, variables = null, smtp_response = null, error = ${without("e.error")}`;
/** Empties emails in key order, the order in which senders lock recipients. */
export const emptied = (found: string) => `locked as (
    select e.campaign_no, e.seq from ${found} f join sent_emails e on e.campaign_no = f.campaign_no and e.seq = f.seq
    order by e.campaign_no, e.seq for no key update of e),
  emptied as (
    update sent_emails e set ${EMPTIED} from locked l where ${inAnyPart("e.campaign_no", "l.campaign_no")} and e.seq = l.seq
    returning e.campaign_no, e.seq)`;

/**
 * `inSteps` for emails, returning those emptied. They get no further hits, and a hit stored while this statement waited
 * for the email's row is only visible to the next statement, which deletes it.
 */
export const inMailSteps = (parts: string[]) =>
  statement(
    parts,
    `select count(*)::int as n, case when count(*) >= ${WRITTEN} then '' end as next,
       json_agg(json_build_array(campaign_no, seq)) as mails from emptied`,
  );

export const FIRST_UUID = "00000000-0000-0000-0000-000000000000";
const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Owners (campaigns, endpoints) scanned per step, many of which may have no rows. */
const OWNERS = 1_000;
const RANGES = {
  int: { owner: "-2147483648", first: "-2147483648", last: "2147483647" },
  uuid: { owner: FIRST_UUID, first: FIRST_UUID, last: LAST_UUID },
};

/**
 * Walks through the rows of each owner of the company in turn. With a plain join and poor statistics the planner reads
 * all rows of all companies in each step; a limit within LATERAL leaves only the index on the owner.
 */
export function walkWithin(given: {
  owners: { table: string; key: string; type: keyof typeof RANGES; where?: string };
  rows: { table: string; owner: string; key: string; type: keyof typeof RANGES; columns: string; where?: string };
  parts: string[];
  changed: string;
}): Pick<ErasureTarget, "first" | "sql"> {
  const { owners, rows, parts, changed } = given;
  const [owner, row] = [RANGES[owners.type], RANGES[rows.type]];
  const [atOwner, atRow] = [`split_part($3, ' ', 1)::${owners.type}`, `split_part($3, ' ', 2)::${rows.type}`];
  const some = `select o.${owners.key} as owner from ${owners.table} o
      where o.company_id = $1 and (o.company_id, o.${owners.key}) >= ($1, ${atOwner}) ${owners.where ? `and ${owners.where}` : ""}
      order by o.company_id, o.${owners.key} limit ${OWNERS}`;
  const page = `page as materialized (
    select i.* from (${some}) o cross join lateral (
      select r.${rows.owner} as owner, r.${rows.key} as key, ${rows.columns} from ${rows.table} r
      where r.${rows.owner} = o.owner and r.${rows.key} > case when o.owner = ${atOwner} then ${atRow} else '${row.first}' end
        ${rows.where ? `and ${rows.where}` : ""}
      order by r.${rows.key} limit ${SCAN_SIZE}) i
    order by o.owner, i.key limit ${SCAN_SIZE})`;
  const sql = statement(
    [page, ...parts],
    `select (select count(*)::int from ${changed}) as n,
       case when (select count(*) from page) >= ${SCAN_SIZE}
           then (select owner || ' ' || key from page order by owner desc, key desc limit 1)
         when (select count(*) from (${some}) s) >= ${OWNERS}
           then (select owner || ' ${row.last}' from (${some}) s order by owner desc limit 1) end as next`,
  );
  return { first: `${owner.owner} ${row.first}`, sql };
}

/** Walks through a table keyed by company and one further key. */
export function quotedIn(given: {
  counted: ErasedKind;
  table: string;
  key?: string;
  type?: string;
  texts: string[];
  sets: string;
  before?: string;
}): ErasureTarget {
  const { counted, table, key = "id", type = "uuid", texts, sets, before } = given;
  return {
    counted,
    first: type === "uuid" ? FIRST_UUID : "",
    ...(before ? { before } : {}),
    sql: walk(
      [
        `page as materialized (select x.${key}, ${anyQuotes(...texts)} as quoted from ${table} x
          where x.company_id = $1 and (x.company_id, x.${key}) > ($1, $3::${type})
          order by x.company_id, x.${key} limit ${SCAN_SIZE})`,
        `changed as (update ${table} x set ${sets} from page p
          where p.quoted and x.company_id = $1 and x.${key} = p.${key} returning 1)`,
      ],
      "changed",
      `${key}::text`,
      key,
    ),
  };
}

export const text = (column: string) => `${column} = ${without(`x.${column}`)}`;
export const jsonb = (column: string, type = "jsonb") => `${column} = ${without(`x.${column}::text`)}::${type}`;
