/** The operators of each type of field: what value they take, and their SQL over the field's expression. */
import { listMembersOf } from "../database/row-at.ts";
import type { Bind, FieldType } from "./fields.ts";
import {
  dateError,
  daysError,
  flagError,
  isDay,
  manyOf,
  numberError,
  scalarError,
  statusError,
  textError,
  timeFrom,
  uuidError,
} from "./values.ts";

/**
 * How lists and campaigns are looked up. "each", for few people: individually, because "offset 0" prevents a join. If
 * the planner expects few people it would otherwise read the whole list, or all emails of a campaign, for each of them.
 * "joined", for everybody, whose number it knows.
 */
export type LookUp = "each" | "joined";

export interface Test {
  /** An error sentence for a value that this operator cannot take. */
  error: (value: unknown) => string | undefined;
  /** The condition; null counts as false. */
  sql: (x: string, value: unknown, bind: Bind, lookUp: LookUp) => string;
}

type Tests = Record<string, Test>;
/** Test on the subscriber's own columns. */
type Sql = (x: string, value: unknown, bind: Bind) => string;

const none = () => undefined;
const test = (error: Test["error"], sql: Test["sql"]): Test => ({ error, sql });

const lowered: Sql = (_x, value, bind) => `lower(${bind(String(value))}::text)`;

/** `x` is text in lower case. */
const text: Record<"equals" | "contains" | "starts_with" | "ends_with" | "in", Sql> = {
  equals: (x, value, bind) => `${x} = ${lowered(x, value, bind)}`,
  contains: (x, value, bind) => `strpos(${x}, ${lowered(x, value, bind)}) > 0`,
  starts_with: (x, value, bind) => `starts_with(${x}, ${lowered(x, value, bind)})`,
  ends_with: (x, value, bind) => {
    const end = lowered(x, value, bind);
    return `right(${x}, length(${end})) = ${end}`;
  },
  in: (x, value, bind) => `${x} in (select lower(v) from unnest(${bind((value as unknown[]).map(String))}::text[]) v)`,
};

const texts: Tests = {
  equals: test(textError, text.equals),
  contains: test(textError, text.contains),
  starts_with: test(textError, text.starts_with),
  ends_with: test(textError, text.ends_with),
  in: test(manyOf(textError), text.in),
};

/** `x` is the address or its domain as entered, `key` its canonical form. */
const keyed = (key: string): Tests => {
  const parts =
    (sql: Sql): Sql =>
    (x, value, bind) =>
      sql(`lower(${x})`, value, bind);
  return {
    equals: test(textError, (_x, value, bind) => `${key} = address_key(${bind(String(value))}::text)`),
    contains: test(textError, parts(text.contains)),
    starts_with: test(textError, parts(text.starts_with)),
    ends_with: test(textError, parts(text.ends_with)),
    in: test(
      manyOf(textError),
      (_x, value, bind) =>
        `${key} in (select address_key(v) from unnest(${bind((value as unknown[]).map(String))}::text[]) v)`,
    ),
  };
};

const statuses: Tests = {
  equals: test(statusError, (x, value, bind) => `${x} = ${bind(value)}`),
  in: test(manyOf(statusError), (x, value, bind) => `${x} = any (${bind(value)}::text[])`),
};

/** Comparison operators for whole days: "after" starts with the next day. */
const OF_DAY: Record<string, readonly [sign: string, days: number]> = {
  "<": ["<", 0],
  ">=": [">=", 0],
  "<=": ["<", 1],
  ">": [">=", 1],
};

/** Computes the start of the day once per statement. */
const compareTime =
  (sign: keyof typeof OF_DAY): Sql =>
  (x, value, bind) => {
    const text = value as string;
    if (!isDay(text)) return `${x} ${sign} ${bind(timeFrom(text).toISOString())}::timestamptz`;
    const [ofDay, days] = OF_DAY[sign]!;
    const start = `select day_start(${bind(text)}::date + ${days}, timezone) from companies where id = ${bind.company}::uuid`;
    return `${x} ${ofDay} (${start})`;
  };
const inLastDays: Sql = (x, value, bind) => `${x} >= now() - ${bind(value)}::int * interval '1 day'`;

const times: Tests = {
  before: test(dateError, compareTime("<")),
  after: test(dateError, compareTime(">")),
  lt: test(dateError, compareTime("<")),
  lte: test(dateError, compareTime("<=")),
  gt: test(dateError, compareTime(">")),
  gte: test(dateError, compareTime(">=")),
  in_last_days: test(daysError, inLastDays),
};

/** Looks up one or several ids in the rows that link subscribers with lists or campaigns. */
function linked(exists: (ids: string, lookUp: LookUp) => string): Tests {
  const sql: Test["sql"] = (_x, value, bind, lookUp) => exists(`${bind([value].flat())}::uuid[]`, lookUp);
  return { equals: test(uuidError, sql), in: test(manyOf(uuidError), sql) };
}

const onList = (ids: string, lookUp: LookUp) => `exists (select 1 from list_members m
    where m.company_id = s.company_id and m.list_id = any (${ids}) and m.subscriber_id = s.id and m.left_at is null
    ${lookUp === "each" ? "offset 0" : ""})`;
const onAnyList = (
  lookUp: LookUp,
) => `exists (select 1 from ${lookUp === "each" ? listMembersOf("s.id") : "list_members"} m
    where m.company_id = s.company_id and m.subscriber_id = s.id and m.left_at is null)`;
const sentAnd = (column: string) => (ids: string, lookUp: LookUp) =>
  `exists (select 1 from ${lookUp === "each" ? "(select * from sent_emails where subscriber_id = s.id offset 0)" : "sent_emails"} e
     where e.subscriber_id = s.id
     and e.campaign_no = any (array(select no from campaigns c where c.company_id = s.company_id and c.id = any (${ids}))) and e.${column} is not null)`;

const NUMBER = "'^-?[0-9]+([.][0-9]+)?$'";
const asNumber = (x: string) => `case when ${x} ~ ${NUMBER} then ${x}::numeric end`;
const compareNumber =
  (sign: string): Sql =>
  (x, value, bind) =>
    `${asNumber(x)} ${sign} ${bind(String(value))}::numeric`;

const compareCount = (sign: string): Test =>
  test(numberError, (x, value, bind) => `(${x}) ${sign} ${bind(String(value))}::numeric`);
const counts: Tests = {
  equals: compareCount("="),
  gt: compareCount(">"),
  gte: compareCount(">="),
  lt: compareCount("<"),
  lte: compareCount("<="),
};

/** `x` is jsonb: the plain test is applied to the value's text, or to each text of an array (one must pass). */
const ofAttribute =
  (plain: Sql): Sql =>
  (x, value, bind) => {
    const element = plain("lower(v)", value, bind);
    const scalar = plain(`lower(${x} #>> '{}')`, value, bind);
    return `case jsonb_typeof(${x}) when 'array' then exists (select 1 from jsonb_array_elements_text(${x}) v where ${element})
       else ${scalar} end`;
  };

/** SQL: an attribute's text as a time; null if it is not a date. */
export const timeOfAttribute = (x: string, company: string): string =>
  `time_of(${x}, (select timezone from companies where id = ${company}::uuid))`;

const timeOf =
  (plain: Sql): Sql =>
  (x, value, bind) =>
    plain(timeOfAttribute(x, bind.company), value, bind);
const equalsScalar: Sql = (x, value, bind) =>
  typeof value === "number" ? compareNumber("=")(x, value, bind) : text.equals(x, value, bind);

const attributes: Tests = {
  equals: test(scalarError, ofAttribute(equalsScalar)),
  contains: test(textError, ofAttribute(text.contains)),
  starts_with: test(textError, ofAttribute(text.starts_with)),
  ends_with: test(textError, ofAttribute(text.ends_with)),
  in: test(manyOf(scalarError), ofAttribute(text.in)),
  gt: test(numberError, ofAttribute(compareNumber(">"))),
  gte: test(numberError, ofAttribute(compareNumber(">="))),
  lt: test(numberError, ofAttribute(compareNumber("<"))),
  lte: test(numberError, ofAttribute(compareNumber("<="))),
  before: test(dateError, ofAttribute(timeOf(compareTime("<")))),
  after: test(dateError, ofAttribute(timeOf(compareTime(">")))),
  in_last_days: test(daysError, ofAttribute(timeOf(inLastDays))),
};

const TESTS: Record<FieldType, Tests> = {
  text: texts,
  address: keyed("s.email_key"),
  domain: keyed("split_part(s.email_key, '@', -1)"),
  status: statuses,
  time: times,
  list: linked(onList),
  opened: linked(sentAnd("opened_at")),
  clicked: linked(sentAnd("clicked_at")),
  flag: { equals: test(flagError, (x, value, bind) => `${x} = ${bind(value)}::boolean`) },
  count: counts,
  attribute: attributes,
};

const EMPTY: Partial<Record<FieldType, Test["sql"]>> = {
  text: (x) => `${x} = ''`,
  time: (x) => `${x} is null`,
  list: (_x, _value, _bind, lookUp) => `not ${onAnyList(lookUp)}`,
  attribute: (x) => `coalesce(${x}, '""') in ('""'::jsonb, '[]'::jsonb)`,
};

/** The positive operators of a type; segment-sql.ts makes the negated ones. */
export function operatorsOf(type: FieldType, nullable: boolean): Map<string, Test> {
  const empty = nullable ? EMPTY[type] : undefined;
  return new Map([...Object.entries(TESTS[type]), ...(empty ? [["is_empty", test(none, empty)] as const] : [])]);
}
