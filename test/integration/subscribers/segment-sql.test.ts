import fc from "fast-check";
import { closeDatabase, openDatabase, query } from "../../../models/database/db.ts";
import { type Condition, type Rules, segmentSql } from "../../../models/segment-rules/segment-sql.ts";
import type { AttributeValue } from "../../../services/lib/attributes.ts";
import { newId } from "../../../services/lib/ids.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const COMPANY = newId();
const OTHER = newId();
const LISTS = [newId(), newId()];
const CAMPAIGNS = [newId(), newId()];
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

interface Person {
  email: string;
  first_name: string;
  status: string;
  attributes: Record<string, AttributeValue>;
  created: Date;
  lists: string[];
  /** Lists left on the preferences page. */
  left: string[];
  mails: { campaign: string; opened?: Date; clicked?: Date }[];
}

/** Attribute texts that are dates; without a zone they are UTC. */
const dates = new Map([
  ["2026-03-01", "2026-03-01T00:00:00Z"],
  ["2024-02-29", "2024-02-29T00:00:00Z"],
  ["2025-12-24T18:00:00Z", "2025-12-24T18:00:00Z"],
  ["2026-02-28 23:30:00.5+01:30", "2026-02-28T22:00:00.5Z"],
  ["2026-01-01T00:00", "2026-01-01T00:00:00Z"],
]);
const noDates = [
  "2026-02-31",
  "2023-02-29",
  "2026-13-01",
  "0000-01-01",
  "2026-1-1",
  "2026-03-01T25:00",
  "2026-03-01T10:00+99:00",
  "2026-03-01 or so",
];

const words = ["ann", "Anna", "BERT", "o'neil", "50%", "a_b", "\\", "", "München"];
const word = fc.constantFrom(...words);
const someTime = fc.integer({ min: 0, max: 400 }).map((days) => new Date(daysAgo(days).getTime() - 3_600_000));
const attribute: fc.Arbitrary<AttributeValue> = fc.oneof(
  word,
  fc.constantFrom("7", "7.0", "-3.5", "1e3", "true"),
  fc.constantFrom(...dates.keys(), ...noDates),
  fc.constantFrom(7, -3.5, 0, 1_000, 0.1),
  fc.boolean(),
  fc.array(word, { maxLength: 3 }),
);

const person: fc.Arbitrary<Person> = fc.record({
  email: fc
    .tuple(
      fc.constantFrom("ann", "Bert", "o'neil", "a_b"),
      fc.constantFrom("x.org", "mail.x.org", "y.example"),
      fc.nat(),
    )
    .map(([local, domain, no]) => `${local}${no}@${domain}`),
  first_name: word,
  status: fc.constantFrom("active", "unconfirmed", "unsubscribed", "bounced"),
  attributes: fc.dictionary(fc.constantFrom("a", "B c", 'q"'), attribute, { maxKeys: 2 }),
  created: someTime,
  lists: fc.subarray(LISTS),
  left: fc.subarray(LISTS),
  mails: fc.array(
    fc.record(
      { campaign: fc.constantFrom(...CAMPAIGNS), opened: someTime, clicked: someTime },
      { requiredKeys: ["campaign"] },
    ),
    { maxLength: 2 },
  ),
});

const text = fc.constantFrom(
  "ann",
  "ANN",
  "a",
  "%",
  "_",
  "\\",
  "o'neil",
  "x.org",
  "mail.x.org",
  "MÜNCHEN",
  "7",
  "true",
);
const date = fc.constantFrom("2026-03-01", "2026-01-01T00:00:00Z", daysAgo(200).toISOString());
const number = fc.constantFrom(7, -3.5, 0, 999.5);
const days = fc.constantFrom(1, 30, 365);

const texts = ["equals", "not_equals", "contains", "not_contains", "starts_with", "ends_with"];
const many = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 3 });
const of = (field: string, operators: string[], value: fc.Arbitrary<unknown>): fc.Arbitrary<Condition> =>
  fc.record({ field: fc.constant(field), operator: fc.constantFrom(...operators), value });
const empties = ["is_empty", "is_not_empty"];
const nothing = fc.constant(undefined);

const textField = (field: string) => fc.oneof(of(field, texts, text), of(field, ["in", "not_in"], many(text)));
const comparisons = ["before", "after", "gt", "gte", "lt", "lte"];
const timeField = (field: string, operators = comparisons) =>
  fc.oneof(of(field, operators, date), of(field, ["in_last_days"], days));
const idField = (field: string, ids: string[]) =>
  fc.oneof(
    of(field, ["equals", "not_equals"], fc.constantFrom(...ids)),
    of(field, ["in", "not_in"], fc.subarray(ids, { minLength: 1 })),
  );
const status = fc.constantFrom("active", "bounced", "unsubscribed");
const attributeFields = ["attributes.a", "attributes.B c", 'attributes.q"', "attributes.none"].flatMap((field) => [
  textField(field),
  timeField(field, ["before", "after"]),
  of(field, ["gt", "gte", "lt", "lte", "equals", "not_equals"], number),
  of(field, ["equals", "not_equals"], fc.boolean()),
  of(field, ["in", "not_in"], many(fc.oneof(text, number, fc.boolean()))),
  of(field, empties, nothing),
]);

const condition = fc.oneof(
  textField("email"),
  textField("domain"),
  textField("first_name"),
  of("first_name", empties, nothing),
  of("status", ["equals", "not_equals"], status),
  of("status", ["in", "not_in"], many(status)),
  timeField("created_at"),
  timeField("last_opened_at"),
  timeField("last_clicked_at"),
  of("last_opened_at", empties, nothing),
  idField("list", LISTS),
  of("list", empties, nothing),
  idField("opened_campaign", CAMPAIGNS),
  idField("clicked_campaign", CAMPAIGNS),
  ...attributeFields,
);
const rules: fc.Arbitrary<Rules> = fc.record({
  match: fc.constantFrom("all" as const, "any" as const),
  conditions: fc.array(condition, { minLength: 1, maxLength: 3 }),
});

const lower = (value: unknown) => String(value).toLowerCase();
const latest = (times: (Date | undefined)[]) =>
  times.filter((time) => time !== undefined).toSorted((a, b) => b.getTime() - a.getTime())[0];

const timeOf = (x: string | Date) => (x instanceof Date ? x : dates.has(x) ? new Date(dates.get(x)!) : undefined);

/** Reference implementation of the positive operators for one text or time. */
function holds(x: string | Date | undefined, operator: string, value: unknown): boolean {
  if (x === undefined) return false;
  if (comparisons.includes(operator) && typeof value !== "number") {
    const time = timeOf(x);
    if (!time) return false;
    const at = Date.parse(value as string);
    // A date without a time is the whole day: times within it are neither before nor after it.
    const end = String(value).length === 10 ? at + 86_399_999 : at;
    const by = time.getTime() < at ? -1 : Number(time.getTime() > end);
    return { before: by < 0, lt: by < 0, lte: by <= 0, after: by > 0, gt: by > 0, gte: by >= 0 }[operator] ?? false;
  }
  if (operator === "in_last_days") {
    const time = timeOf(x);
    return time !== undefined && time >= daysAgo(value as number);
  }
  const textOf = lower(x);
  if (typeof value === "number" && operator !== "in") {
    if (!/^-?\d+(\.\d+)?$/.test(textOf)) return false;
    const n = Number(textOf);
    return { equals: n === value, gt: n > value, gte: n >= value, lt: n < value, lte: n <= value }[operator]!;
  }
  switch (operator) {
    case "equals":
      return textOf === lower(value);
    case "contains":
      return textOf.includes(lower(value));
    case "starts_with":
      return textOf.startsWith(lower(value));
    case "ends_with":
      return textOf.endsWith(lower(value));
    default:
      return (value as unknown[]).some((one) => textOf === lower(one));
  }
}

const ids = (value: unknown) => [value].flat() as string[];

function positive(p: Person, field: string, operator: string, value: unknown): boolean {
  if (field.startsWith("attributes.")) {
    const own = p.attributes[field.slice("attributes.".length)];
    if (operator === "is_empty") return own === undefined || own === "" || (Array.isArray(own) && own.length === 0);
    if (own === undefined) return false;
    return [own].flat().some((one) => holds(String(one), operator, value));
  }
  switch (field) {
    case "list":
      return operator === "is_empty" ? memberOf(p).length === 0 : ids(value).some((id) => memberOf(p).includes(id));
    case "opened_campaign":
      return p.mails.some((mail) => mail.opened && ids(value).includes(mail.campaign));
    case "clicked_campaign":
      return p.mails.some((mail) => mail.clicked && ids(value).includes(mail.campaign));
    default: {
      const x = {
        email: p.email,
        domain: p.email.split("@")[1],
        first_name: p.first_name,
        status: p.status,
        created_at: p.created,
        last_opened_at: latest(p.mails.map((mail) => mail.opened)),
        last_clicked_at: latest(p.mails.map((mail) => mail.clicked)),
      }[field];
      return operator === "is_empty" ? x === undefined || x === "" : holds(x, operator, value);
    }
  }
}

const memberOf = (p: Person) => p.lists.filter((id) => !p.left.includes(id));

function fits(p: Person, { match, conditions }: Rules): boolean {
  const each = conditions.map(({ field, operator, value }) => {
    if (operator === "is_not_empty") return !positive(p, field, "is_empty", value);
    if (operator.startsWith("not_")) return !positive(p, field, operator.slice(4), value);
    return positive(p, field, operator, value);
  });
  return match === "any" ? each.some(Boolean) : each.every(Boolean);
}

describe("segment rules as SQL", () => {
  let database: TestDatabase;
  let people: Person[];

  beforeAll(async () => {
    database = await createDatabase();
    openDatabase(database.url, 4);
    await query("insert into companies (id, name, plan) values ($1, 'A', 'unlimited'), ($2, 'B', 'unlimited')", [
      COMPANY,
      OTHER,
    ]);
    people = fc.sample(
      fc.uniqueArray(person, { minLength: 60, maxLength: 60, selector: (p) => lower(p.email) }),
      1,
    )[0]!;
    let seq = 0;
    await query(
      `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, no)
       select id, $1, 'C', 'custom', 'completed', $1, $1, next_campaign_no() from unnest($2::uuid[]) id`,
      [COMPANY, CAMPAIGNS],
    );
    for (const p of people) {
      const id = newId();
      for (const company of [COMPANY, OTHER]) {
        await query(
          "insert into subscribers (id, company_id, email, first_name, status, attributes, created_at) values ($1, $2, $3, $4, $5, $6, $7)",
          [id, company, p.email, p.first_name, p.status, JSON.stringify(p.attributes), p.created],
        );
      }
      for (const list of p.lists) {
        await query("insert into list_members (company_id, list_id, subscriber_id, left_at) values ($1, $2, $3, $4)", [
          COMPANY,
          list,
          id,
          p.left.includes(list) ? new Date() : null,
        ]);
      }
      for (const mail of p.mails) {
        await query(
          `insert into sent_emails (campaign_no, seq, subscriber_id, opened_at, clicked_at)
           select no, $2, $3, $4, $5 from campaigns where id = $1`,
          [mail.campaign, ++seq, id, mail.opened ?? null, mail.clicked ?? null],
        );
      }
    }
  });
  afterAll(async () => {
    await closeDatabase();
    await database.drop();
  });

  test("find the same subscribers as the reference, and none of another company", async () => {
    await fc.assert(
      fc.asyncProperty(rules, fc.constantFrom("each" as const, "joined" as const), async (asked, lookUp) => {
        const { where, values } = segmentSql(asked, COMPANY, 2, lookUp);
        const rows = await query<{ email: string; company_id: string }>(
          `select s.email, s.company_id from subscribers s where $1::int = 1 and ${where}`,
          [1, ...values],
        );
        expect(rows.every((row) => row.company_id === COMPANY)).toBe(true);
        const expected = people.filter((p) => fits(p, asked)).map((p) => p.email);
        expect(rows.map((row) => row.email).toSorted()).toEqual(expected.toSorted());
      }),
      { numRuns: 1_500 },
    );
  });
});
