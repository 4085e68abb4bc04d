/** Following `next` and `previous` lists every match once, whatever the filter and concurrent changes. */
import { query } from "../../../models/database/db.ts";
import { type Listing, listPage } from "../../../models/database/listing.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, newCompany, type TestCompany } from "../../support/client.ts";
import { type Large, makeLarge } from "../../support/large-installation.ts";
import { statementsOf } from "../../support/statements.ts";

const SIZE = { people: 10_100, mails: 1_100, events: 1_100, others: 1_100 };
const PAGE_SIZE = 100;
const WALKED = 1_000;
const WALKED_AT_ONCE = 40;

let app: App;
let company: TestCompany;
let large: Large;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app, { plan: "unlimited" });
  large = await makeLarge(company.id, "a", SIZE);
  await query("analyze");
}, 300_000);
afterAll(() => app.stop());

interface Page {
  count: number;
  count_estimated?: boolean;
  next: string | null;
  previous: string | null;
  results: { id: string }[];
}

const pathOf = (url: string) => url.slice(new URL(url).origin.length);

async function read(path: string, by: Client = company.api): Promise<Page> {
  const { status, body } = await by.get(path);
  expect([path, status]).toEqual([path, 200]);
  return body;
}

const idsOf = ({ results }: Page) => results.map(({ id }) => id);

/** Returns all pages from this one on. */
async function follow(first: Page, link: "next" | "previous", by?: Client): Promise<Page[]> {
  const pages = [first];
  for (let at = first[link]; at !== null; at = pages.at(-1)![link]) pages.push(await read(pathOf(at), by));
  return pages;
}

const expectOnce = (ids: string[]) => expect(ids).toHaveLength(new Set(ids).size);

test("every filtered list is complete in both directions, even with more than 10,000 entries", async () => {
  const owner = client(app, { token: company.token });
  const lists: [path: string, by?: Client][] = [
    ["subscribers/?search=example"],
    [`subscribers/?list=${large.smallList}&status=active`],
    [`lists/${large.smallList}/subscribers/?status=active&ordering=email`],
    ["sent-emails/?status=sent"],
    ["events/?since=2000-01-01T00:00:00Z"],
    ["suppressions/?kind=bounced"],
    ["inbound/?result=bounced"],
    ["campaigns/?created_after=2000-01-01T00:00:00Z&ordering=name"],
    [`webhook-endpoints/${large.endpoint}/deliveries/?status=succeeded`],
    [`/api/companies/${company.id}/audit-log/?since=2000-01-01T00:00:00Z`, owner],
  ];
  for (const [path, by] of lists) {
    const whole = path.startsWith("/") ? path : `/api/emails/${path}`;
    const first = await read(`${whole}&page_size=${PAGE_SIZE}`, by);
    const onward = await follow(first, "next", by);
    const ids = onward.flatMap(idsOf);
    expectOnce(ids);
    const least = path.startsWith("subscribers/?search") ? 10_000 : 1_000;
    expect([path, ids.length > least, first.count, first.count_estimated]).toEqual([path, true, ids.length, undefined]);
    expect(new Set(onward.map(({ count }) => count))).toEqual(new Set([ids.length]));
    const back = await follow(onward.at(-1)!, "previous", by);
    expect(back.toReversed().flatMap(idsOf)).toEqual(ids);
    // A page addressed by number is the same page.
    const byNumber = await read(`${whole}&page_size=${PAGE_SIZE}&page=8`, by);
    expect([idsOf(byNumber), byNumber.next !== null]).toEqual([idsOf(onward[7]!), true]);
  }
}, 300_000);

test("several lists, campaigns or addresses return the union of their entries, without duplicates", async () => {
  const campaigns = await read("/api/emails/campaigns/?page_size=3");
  const [mail] = (await read("/api/emails/sent-emails/?page_size=1")).results as unknown as { recipient: string }[];
  const other = (await read("/api/emails/sent-emails/?page_size=1&page=7")).results[0] as unknown as {
    recipient: string;
  };
  const { body } = await company.api.post("/api/emails/lists/", { name: "Second" });
  for (const { email } of (await read("/api/emails/subscribers/?page_size=3")).results as unknown as {
    email: string;
  }[]) {
    await company.api.post("/api/emails/subscribers/", { email, lists: [body.id] });
  }
  for (const [path, name, values] of [
    ["sent-emails", "campaign", idsOf(campaigns)],
    ["events", "campaign", idsOf(campaigns)],
    ["sent-emails", "recipient", [mail!.recipient, other.recipient]],
    ["events", "recipient", [mail!.recipient, other.recipient]],
    ["inbound", "recipient", [mail!.recipient, other.recipient]],
    ["subscribers", "list", [large.smallList, body.id]],
  ] as const) {
    const asked = (wanted: readonly string[]) =>
      `/api/emails/${path}/?page_size=${PAGE_SIZE}&${wanted.map((value) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
    const apart = new Set<string>();
    for (const value of values) {
      for (const id of (await follow(await read(asked([value])), "next")).flatMap(idsOf)) apart.add(id);
    }
    const together = await follow(await read(asked(values)), "next");
    const ids = together.flatMap(idsOf);
    expectOnce(ids);
    expect([path, name, ids.toSorted()]).toEqual([path, name, [...apart].toSorted()]);
    expect(together[0]!.count).toBe(ids.length);
  }
}, 300_000);

test("a repeated filter returns the union of its values", async () => {
  for (const [path, name, values] of [
    ["sent-emails", "status", ["failed", "bounced", "queued"]],
    ["sent-emails", "status", ["queued", "sending"]],
    ["sent-emails", "status", ["sent", "bounced"]],
    ["events", "type", ["clicked", "bounced"]],
    ["events", "type", ["opened", "clicked"]],
    ["subscribers", "status", ["unsubscribed", "bounced"]],
    ["campaigns", "status", ["completed", "partial"]],
  ] as const) {
    const asked = (wanted: readonly string[]) =>
      `/api/emails/${path}/?page_size=${PAGE_SIZE}&${wanted.map((value) => `${name}=${value}`).join("&")}`;
    const apart: string[] = [];
    for (const value of values) {
      const found = (await follow(await read(asked([value])), "next")).flatMap(idsOf);
      apart.push(...found);
    }
    const together = await follow(await read(asked(values)), "next");
    expect([path, values, together.flatMap(idsOf).toSorted()]).toEqual([path, values, apart.toSorted()]);
    expect(together[0]!.count).toBe(apart.length);
  }
}, 300_000);

const addPeople = (names: string[]) =>
  query(
    "insert into subscribers (company_id, email, first_name) select $1, name || '@walk.example', name from unnest($2::text[]) name",
    [company.id, names],
  );

/** Rows are added and removed every few pages. */
const CHANGE_EVERY = 5;

test.each(["-created_at", "created_at", "email", "-first_name"])(
  "unchanged entries are listed once while others are added and removed, by %s",
  async (ordering) => {
    const tag = `walk${ordering.replaceAll(/\W|_/g, "")}`;
    const names = Array.from({ length: WALKED }, (_, n) => `${tag}${String((n * 7_919) % WALKED).padStart(5, "0")}`);
    await addPeople(names);
    const gone = new Set<string>();
    const seen: Page[] = [
      await read(`/api/emails/subscribers/?search=${tag}&ordering=${ordering}&page_size=${WALKED_AT_ONCE}`),
    ];
    expect(seen[0]).toMatchObject({ count: WALKED, previous: null });
    for (let n = 0, at = seen[0]!.next; at !== null; at = seen.at(-1)!.next, n++) {
      if (n % CHANGE_EVERY === 0) {
        await addPeople(
          [0, 50, 99].map((percent) => `${tag}${String(percent * (WALKED / 100)).padStart(5, "0")}new${n}`),
        );
        // The page's last row, which is its cursor; another row already seen; and one that may follow.
        const ids = idsOf(seen.at(-1)!);
        const doomed = await query<{ email: string }>(
          `delete from subscribers where company_id = $1 and (id = any ($2::uuid[]) or email = $3) returning email`,
          [company.id, [ids.at(-1), ids[0]], `${names[n * 7]}@walk.example`],
        );
        for (const { email } of doomed) gone.add(email);
      }
      seen.push(await read(pathOf(at)));
    }
    expectOnce(seen.flatMap(idsOf));
    const emails = new Set(
      seen.flatMap(({ results }) => results.map((row) => (row as unknown as { email: string }).email)),
    );
    const stayed = names.map((name) => `${name}@walk.example`).filter((email) => !gone.has(email));
    expect(stayed.filter((email) => !emails.has(email))).toEqual([]);
    const back = (await follow(seen.at(-1)!, "previous")).flatMap(({ results }) => results);
    expectOnce(back.map(({ id }) => id));
    const known = new Set(back.map((row) => (row as unknown as { email: string }).email));
    expect(stayed.filter((email) => !known.has(email))).toEqual([]);
    await query("delete from subscribers where company_id = $1 and email like $2", [company.id, `${tag}%`]);
  },
  120_000,
);

test("a page whose rows were all removed has a link back", async () => {
  await addPeople(Array.from({ length: 50 }, (_, n) => `vanish${n}`));
  const first = await read("/api/emails/subscribers/?search=vanish&ordering=created_at");
  const second = await read(pathOf(first.next!));
  await query("delete from subscribers where company_id = $1 and email like 'vanish%' and id > $2", [
    company.id,
    idsOf(first).at(-1),
  ]);
  const empty = await read(pathOf(first.next!));
  expect([empty.count, empty.next, empty.results]).toEqual([20, null, []]);
  expect(idsOf(await read(pathOf(empty.previous!)))).toEqual(idsOf(first));
  expect(idsOf(await read(pathOf(second.previous!)))).toEqual(idsOf(first));
});

test("a cursor works only for its ordering and cannot be forged", async () => {
  const { next } = await read("/api/emails/subscribers/?ordering=email");
  const cursor = new URL(next!).searchParams.get("cursor")!;
  expect(Buffer.from(cursor, "base64url").toString("latin1")).not.toContain("example");
  const altered = `${cursor.slice(0, -2)}${cursor.endsWith("AA") ? "BB" : "AA"}`;
  for (const [path, given] of [
    ["subscribers/?ordering=email", altered],
    ["subscribers/?ordering=email", "x"],
    ["subscribers/?ordering=email", Buffer.from('{"key":["a","b"]}').toString("base64url")],
    ["subscribers/?ordering=-email", cursor],
    ["subscribers/?", cursor],
    ["suppressions/?ordering=email", cursor],
    ["events/?", cursor],
  ]) {
    const { status, body } = await company.api.get(`/api/emails/${path}&cursor=${given}`);
    expect([path, status, body]).toEqual([path, 404, { detail: "Invalid page." }]);
  }
  const other = await newCompany(app);
  expect(await read(`/api/emails/subscribers/?ordering=email&cursor=${cursor}`, other.api)).toMatchObject({
    count: 0,
    results: [],
  });
});

describe("a count that takes more than 2 seconds", () => {
  const slow = (): Listing => ({
    from: "subscribers s",
    columns: "s.id",
    where: ["s.company_id = $1", "pg_sleep(0.001) is not null"],
    values: [company.id],
    id: "s.id",
    orderings: {},
    searchIn: [],
    large: true,
  });

  test("is replaced by an estimate, which later pages repeat without counting", async () => {
    const first = await listPage<{ id: string }>(slow(), {});
    expect(first).toMatchObject({ count: expect.any(Number), count_estimated: true, previous: null });
    expect(first.results).toHaveLength(20);
    const asked = await statementsOf(async () => {
      const second = await listPage<{ id: string }>(slow(), { cursor: first.next! });
      expect([second.count, second.count_estimated]).toEqual([first.count, true]);
      expectOnce([...first.results, ...second.results].map(({ id }) => id));
    });
    expect(asked.filter(({ text }) => text.includes("count(*) n from subscribers"))).toEqual([]);
  });
});
