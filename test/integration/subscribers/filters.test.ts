/**
 * Compares every combination of list or segment, status, search, order and page with the same selection in JavaScript.
 */
import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { long } from "../../support/long.ts";

const PEOPLE = long ? 12_500 : 90;
const PAGE_SIZE = 7;
const STATUSES = ["active", "unsubscribed", "bounced", "complained", "unconfirmed"];
const ALL_ORDERINGS = ["created_at", "email", "first_name", "last_name"].flatMap((field) => [field, `-${field}`]);
const ORDERINGS = long ? ALL_ORDERINGS : ["created_at", "-email", "first_name"];

interface Person {
  n: number;
  email: string;
  first_name: string;
  last_name: string;
  status: string;
}

/** Subscribers, most of them active, one unconfirmed. */
const statusOf = (n: number) =>
  n === 1 ? "unconfirmed" : n % 9 === 0 ? "bounced" : n % 4 === 0 ? "unsubscribed" : "active";
const people: Person[] = Array.from({ length: PEOPLE }, (_, at) => at + 1).map((n) => ({
  n,
  email: `p${(n * 7_919) % 100_003}.${n}@example.com`,
  first_name: `First${n % 10}`,
  last_name: n % 3 === 0 ? "Ng" : `Last${n % 25}`,
  status: statusOf(n),
}));
/** Lists with everyone, half of them, and three. */
const LISTS = [() => true, (n: number) => n % 2 === 0, (n: number) => [4, 9, 36].includes(n)];
/** Positions from 1 on. */
const listsOf = (n: number) => LISTS.flatMap((isThere, at) => (isThere(n) ? [at + 1] : []));

let app: App;
let company: TestCompany;
let lists: string[];
let segment: string;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
  company = await newCompany(app, { plan: "unlimited" });
  lists = await Promise.all(
    LISTS.map(async (_, n) => (await company.api.post("/api/emails/lists/", { name: `List ${n}` })).body.id),
  );
  await query(
    `with given as (
       select * from json_to_recordset($2) g (n int, email text, first_name text, last_name text, status text, on_lists int[])),
     added as (
       insert into subscribers (id, company_id, email, first_name, last_name, status)
       select (lpad(to_hex(1700000000000 + n), 12, '0') || '70008000000000000000')::uuid, $1, email, first_name, last_name, status
       from given returning id, email)
     insert into list_members (company_id, list_id, subscriber_id)
     select $1, l.id, a.id from added a join given g using (email)
     join unnest($3::uuid[]) with ordinality l (id, no) on l.no = any (g.on_lists)`,
    [company.id, JSON.stringify(people.map((person) => ({ ...person, on_lists: listsOf(person.n) }))), lists],
  );
  const rules = { conditions: [{ field: "first_name", operator: "equals", value: "first4" }] };
  segment = (await company.api.post("/api/emails/segments/", { name: "Fourth", rules })).body.id;
});
afterAll(() => app.stop());

interface Asked {
  status?: string;
  search?: string;
  ordering?: string;
}

function expected(isThere: (n: number) => boolean, { status, search, ordering = "-created_at" }: Asked): string[] {
  const field = ordering.replace("-", "");
  const direction = ordering.startsWith("-") ? -1 : 1;
  const key = (person: Person) => (field === "created_at" ? "" : person[field as "email"].toLowerCase());
  const order = (a: Person, b: Person) => {
    const [one, two] = [key(a), key(b)];
    return direction * (one < two ? -1 : one > two ? 1 : a.n - b.n);
  };
  return people
    .filter(({ n }) => isThere(n))
    .filter((person) => !status || person.status === status)
    .filter(({ email, first_name, last_name }) =>
      `${email} ${first_name} ${last_name}`.toLowerCase().includes(search ?? ""),
    )
    .toSorted(order)
    .map(({ email }) => email);
}

const queriesWith = (statuses: (string | undefined)[]): Asked[] =>
  statuses.flatMap((status) =>
    [undefined, "ng", "last1", "p7919.1@", "nobody at all"].flatMap((search) =>
      [undefined, ...ORDERINGS].map((ordering) => ({
        ...(status ? { status } : {}),
        ...(search ? { search } : {}),
        ...(ordering ? { ordering } : {}),
      })),
    ),
  );

/** Checks the first two pages and the last but one. */
async function check(
  path: string,
  isThere: (n: number) => boolean,
  asked: Asked & { list?: string },
): Promise<string[]> {
  const all = expected(isThere, asked);
  const pages = Math.max(1, Math.ceil(all.length / PAGE_SIZE));
  const wrong: string[] = [];
  for (const page of new Set([1, Math.min(2, pages), Math.min(pages, Math.max(1, Math.min(pages - 1, 400)))])) {
    const { status, body } = await company.api.get(path, { query: { ...asked, page, page_size: PAGE_SIZE } });
    const found = body.results?.map(({ email }: { email: string }) => email);
    const wanted = all.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    if (status === 200 && body.count === all.length && found.join() === wanted.join()) continue;
    wrong.push(
      `${path}${JSON.stringify({ ...asked, page })}: ${status}, ${body.count} of ${all.length}: ${found}, not ${wanted}`,
    );
  }
  return wrong;
}

async function checkAll(work: (() => Promise<string[]>)[]): Promise<void> {
  const wrong: string[] = [];
  for (let at = 0; at < work.length; at += 8) {
    wrong.push(...(await Promise.all(work.slice(at, at + 8).map((one) => one()))).flat());
  }
  expect(wrong).toEqual([]);
}

const MINUTES = 60_000;

test(
  "of all subscribers",
  async () => {
    const asked = queriesWith([undefined, ...STATUSES]);
    await checkAll(asked.map((one) => () => check("/api/emails/subscribers/", () => true, one)));
  },
  10 * MINUTES,
);

test.each([0, 1, 2])(
  "of list %d, by its own path and as a filter",
  async (no) => {
    const asked = queriesWith([undefined, ...STATUSES]);
    const [list, isThere] = [lists[no]!, LISTS[no]!];
    await checkAll(asked.map((one) => () => check(`/api/emails/lists/${list}/subscribers/`, isThere, one)));
    await checkAll(asked.map((one) => () => check("/api/emails/subscribers/", isThere, { ...one, list })));
  },
  20 * MINUTES,
);

test(
  "of a segment",
  async () => {
    const isThere = (n: number) => n % 10 === 4;
    const asked = queriesWith([undefined]);
    await checkAll(asked.map((one) => () => check(`/api/emails/segments/${segment}/subscribers/`, isThere, one)));
  },
  10 * MINUTES,
);
