/** How the statements of erase-places.ts are made: each takes one bounded step, and says where the next one begins. */

/** Rows written in one step. */
export const WRITTEN = 1_000;
/** Rows looked at in one step where no index finds them. */
export const LOOKED_AT = 5_000;

export interface Place {
  /** What its rows are counted as. */
  counted: ErasedKind;
  /** The cursor before the first row. */
  first?: string;
  /** Before `sql`, in the same transaction: $1 is the company. */
  before?: string;
  /**
   * $1 company, $2 the address's spellings in lower case, $3 cursor, $4 the address as a regular expression, $5 the local part
   * in lower case. Answers with `n`, and with `next`: the cursor of the next step, or null after the last.
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

/** So that each parameter has its type, whichever of them a statement uses. */
const TYPES = "types as (select $1::uuid, $2::text[], $3::text, $4::text, $5::text)";

const statement = (parts: string[], answer: string) => `with ${[TYPES, ...parts].join(",\n")}\n${answer}`;

/** The same statement again, until it finds less than it may take. */
export const untilFew = (parts: string[], rows: string) =>
  statement(parts, `select count(*)::int as n, case when count(*) >= ${WRITTEN} then '' end as next from ${rows}`);

/** `page` has the rows that were looked at in order, `key` makes the cursor of one. */
export const walk = (parts: string[], rows: string, key: string, order: string) =>
  statement(
    parts,
    `select (select count(*)::int from ${rows}) as n,
       case when (select count(*) from page) >= ${LOOKED_AT} then (select ${key} from page order by ${order} desc limit 1) end as next`,
  );

const quotes = (column: string) => `(strpos(lower(${column}), $5) > 0 and ${column} ~* $4)`;
export const without = (column: string) => `regexp_replace(${column}, $4, '[erased]', 'gi')`;
export const anyQuotes = (...columns: string[]) => `coalesce(${columns.map(quotes).join(" or ")}, false)`;
export const unaddressed = (column: string) =>
  `nullif(array(select a from unnest(${column}) a where lower(a) <> all ($2)), '{}')`;

const EMPTIED =
  "email = '', subscriber_id = null, variables = null, smtp_response = null, reply_no = null, error = " +
  without("e.error");
/** In the order of the key, as senders lock recipients. */
export const emptied = (found: string) => `locked as (
    select e.campaign_no, e.seq from ${found} f join sent_emails e on e.campaign_no = f.campaign_no and e.seq = f.seq
    order by e.campaign_no, e.seq for no key update of e),
  emptied as (
    update sent_emails e set ${EMPTIED} from locked l where e.campaign_no = l.campaign_no and e.seq = l.seq returning 1)`;

/** The campaigns whose recipients came with the request: only they have variables and copies. */
export const OF_REQUESTS = "c.company_id = $1 and c.campaign_type <> 'to_list'";
export const FIRST_UUID = "00000000-0000-0000-0000-000000000000";
export const FIRST_NUMBER = "-2147483648 0";
export const at = (n: 1 | 2, type: string) => `split_part($3, ' ', ${n})::${type}`;

/** Walks through a table with one key beside the company's. */
export function quotedIn(given: {
  counted: ErasedKind;
  table: string;
  key?: string;
  type?: string;
  texts: string[];
  sets: string;
  before?: string;
}): Place {
  const { counted, table, key = "id", type = "uuid", texts, sets, before } = given;
  return {
    counted,
    first: type === "uuid" ? FIRST_UUID : "",
    ...(before ? { before } : {}),
    sql: walk(
      [
        `page as materialized (select x.${key}, ${anyQuotes(...texts)} as quoted from ${table} x
          where x.company_id = $1 and x.${key} > $3::${type} order by x.${key} limit ${LOOKED_AT})`,
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
