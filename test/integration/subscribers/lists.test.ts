import { query, transaction } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

const LISTS = "/api/emails/lists/";
const SUBSCRIBERS = "/api/emails/subscribers/";
const SOME_ID = "018f0000-0000-7000-8000-00000000abcd";

let app: App;
let own: TestCompany;
let other: TestCompany;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
  [own, other] = [await newCompany(app), await newCompany(app)];
});
afterAll(() => app.stop());

const newList = async (of = own) => (await of.api.post(LISTS, { name: "A list" })).body.id as string;
const newSubscriber = async (email: string, of = own) => (await of.api.post(SUBSCRIBERS, { email })).body.id as string;
const countOf = async (list: string, of = own) => (await of.api.get(`${LISTS}${list}/`)).body.subscriber_count;
const bulk = (given: object, of = own) => of.api.post(`${SUBSCRIBERS}bulk-update-lists/`, given);

describe("a subscriber list", () => {
  test("is private by default; a public one may have its own name and description", async () => {
    const { body } = await own.api.post(LISTS, { name: "house" });
    expect(body).toMatchObject({ visibility: "private", public_name: "", public_description: "", archive: false });
    const open = { visibility: "public", public_name: "News", public_description: "Once a month", archive: true };
    expect((await own.api.patch(`${LISTS}${body.id}/`, open)).body).toEqual({ ...body, ...open });
    const made = await own.api.post(LISTS, { name: "two", ...open });
    expect(made).toMatchObject({ status: 201, body: open });
    expect((await own.api.get(LISTS)).body.results[0]).toEqual(made.body);
    expect((await own.api.patch(`${LISTS}${body.id}/`, { visibility: "secret" })).body).toEqual({
      visibility: ['"secret" is not a valid choice.'],
    });
  });

  test("is created, read, changed and deleted", async () => {
    const made = await own.api.post(LISTS, { name: " News ", description: "All the news" });
    expect(made).toMatchObject({
      status: 201,
      body: { name: "News", description: "All the news", subscriber_count: 0, created_at: expect.any(String) },
    });
    const path = `${LISTS}${made.body.id}/`;
    expect((await own.api.patch(path, { description: "" })).body).toEqual({ ...made.body, description: "" });
    expect((await own.api.patch(path, { name: " " })).body).toEqual({ name: ["This field may not be blank."] });
    expect((await own.api.get(path)).body.name).toBe("News");
    expect((await own.api.delete(path)).status).toBe(204);
    expect((await own.api.get(path)).status).toBe(404);
    expect((await own.api.delete(path)).status).toBe(404);
  });

  test.each([
    [{}, { name: ["This field is required."] }],
    [{ name: "" }, { name: ["This field may not be blank."] }],
    [
      { name: "n".repeat(256), description: 5 },
      { name: [expect.any(String)], description: ["Not a valid string."] },
    ],
  ])("is refused with %j", async (given, errors) => {
    expect(await own.api.post(LISTS, given)).toMatchObject({ status: 400, body: errors });
  });

  test("is 404 for another company, everywhere", async () => {
    const foreign = await newList(other);
    expect((await own.api.get(`${LISTS}${foreign}/`)).status).toBe(404);
    expect((await own.api.patch(`${LISTS}${foreign}/`, { name: "x" })).status).toBe(404);
    expect((await own.api.delete(`${LISTS}${foreign}/`)).status).toBe(404);
    expect((await own.api.get(`${LISTS}${foreign}/subscribers/`)).status).toBe(404);
  });

  test("shows its members in pages, without those that left", async () => {
    const list = await newList();
    const ids = [await newSubscriber("m1@example.com"), await newSubscriber("m2@example.com")];
    await bulk({ subscriber_ids: ids, add_to_lists: [list] });
    const members = async () => (await own.api.get(`${LISTS}${list}/subscribers/`)).body;
    expect(await members()).toMatchObject({ count: 2, results: [{ id: ids[1], lists: [list] }, { id: ids[0] }] });

    await query("update list_members set left_at = now() where company_id = $1 and subscriber_id = $2", [
      own.id,
      ids[0],
    ]);
    expect(await members()).toMatchObject({ count: 1, results: [{ id: ids[1] }] });
    expect(await countOf(list)).toBe(1);
    expect((await own.api.get(`${SUBSCRIBERS}${ids[0]}/`)).body.lists).toEqual([]);

    await bulk({ subscriber_ids: ids, add_to_lists: [list] });
    expect(await countOf(list)).toBe(2);
  });

  test.each(["unsubscribed", "active"])(
    "shows its members of the status %s and nobody else, in any order",
    async (status) => {
      const [list, all] = [await newList(), await newList()];
      const tag = status.slice(0, 2);
      const ids = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => newSubscriber(`${tag}${n}@example.com`)));
      const [, ...members] = ids;
      await bulk({ subscriber_ids: members, add_to_lists: [list] });
      await bulk({ subscriber_ids: ids, add_to_lists: [all] });
      const others = status === "active" ? "unsubscribed" : "active";
      const change = "update subscribers set status = $2 where company_id = $1 and id = any ($3)";
      await query(change, [own.id, others, ids]);
      await query(change, [own.id, status, [ids[0], ids[2], ids[4]]]);
      const found = async (path: string, given: object) => {
        const { status: answer, body } = await own.api.get(path, { query: { status, ...given } });
        return [answer, body.count, body.results?.map(({ email }: { email: string }) => email)];
      };
      for (const ordering of ["created_at", "email", "first_name"]) {
        for (const [path, given] of [
          [`${LISTS}${list}/subscribers/`, {}],
          [SUBSCRIBERS, { list }],
        ] as const) {
          const [answer, count, emails] = await found(path, { ordering, ...given });
          expect([answer, count, emails?.toSorted()]).toEqual([200, 2, [`${tag}3@example.com`, `${tag}5@example.com`]]);
        }
      }
      expect((await found(SUBSCRIBERS, { list: all }))[1]).toBe(3);
    },
  );

  test("is deleted with its memberships but without its subscribers", async () => {
    const list = await newList();
    const id = await newSubscriber("stays@example.com");
    await bulk({ subscriber_ids: [id], add_to_lists: [list] });
    await own.api.delete(`${LISTS}${list}/`);
    expect((await own.api.get(`${SUBSCRIBERS}${id}/`)).body.lists).toEqual([]);
    expect(await query("select from list_members where list_id = $1", [list])).toEqual([]);
    expect(await query("select from counters where ref = $1", [list])).toEqual([]);
  });

  test("neither repeats nor omits a member on deep pages of a large list", async () => {
    const list = await newList();
    await query(
      `with s as (insert into subscribers (company_id, email) select $1, 'deep' || n || '@example.com' from generate_series(1, 2500) n returning id)
       insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from s`,
      [own.id, list],
    );
    const seen = new Set<string>();
    for (let page = 1; page <= 25; page++) {
      const { body } = await own.api.get(`${LISTS}${list}/subscribers/`, { query: { page, page_size: 100 } });
      for (const { id } of body.results) seen.add(id);
    }
    expect(seen.size).toBe(2_500);
  });
});

describe("updating lists in bulk", () => {
  test("returns counts, and changes nothing the second time", async () => {
    const [one, two] = [await newList(), await newList()];
    const ids = await Promise.all([1, 2, 3].map((no) => newSubscriber(`bulk${no}@example.com`)));
    await bulk({ subscriber_ids: [ids[0]], add_to_lists: [two] });
    const given = { subscriber_ids: ids, add_to_lists: [one], remove_from_lists: [two] };
    expect(await bulk(given)).toMatchObject({ status: 200, body: { updated: 3, added: 3, removed: 1 } });
    expect((await bulk(given)).body).toEqual({ updated: 0, added: 0, removed: 0 });
    expect([await countOf(one), await countOf(two)]).toEqual([3, 0]);
  });

  test("reports ids of another company by field, and changes nothing", async () => {
    const [mine, theirs] = [await newSubscriber("x1@example.com"), await newSubscriber("x1@example.com", other)];
    const [list, foreign] = [await newList(), await newList(other)];
    const answer = await bulk({
      subscriber_ids: [mine, theirs],
      add_to_lists: [list, foreign],
      remove_from_lists: [SOME_ID],
    });
    const missing = (id: string) => [`Invalid pk "${id}" - object does not exist.`];
    expect(answer).toMatchObject({
      status: 400,
      body: { subscriber_ids: missing(theirs), add_to_lists: missing(foreign), remove_from_lists: missing(SOME_ID) },
    });
    expect([await countOf(list), await countOf(foreign, other)]).toEqual([0, 0]);
  });

  test("counts more memberships than one statement writes once each, all or none", async () => {
    const many = await newCompany(app);
    const [LISTS_EACH, PEOPLE] = [50, 250];
    const added = async (sql: string, n: number) =>
      (await query<{ id: string }>(`${sql} from generate_series(1, $2::int) n returning id`, [many.id, n])).map(
        ({ id }) => id,
      );
    const lists = await added(
      "insert into lists (id, company_id, name) select gen_random_uuid(), $1, 'List ' || n",
      LISTS_EACH,
    );
    const people = await added(
      "insert into subscribers (company_id, email) select $1, 'many' || n || '@example.com'",
      PEOPLE,
    );
    const counts = async () => Promise.all([lists[0]!, lists.at(-1)!].map((list) => countOf(list, many)));

    const last = people.toSorted().at(-1);
    await transaction(async (client) => {
      await client.query("select from subscribers where id = $1 for update", [last]);
      expect((await bulk({ subscriber_ids: people, add_to_lists: lists }, many)).status).toBe(503);
    });
    expect(await counts()).toEqual([0, 0]);

    const twice = [...people, ...people.slice(0, 10).map((id) => id.toUpperCase())];
    const all = LISTS_EACH * PEOPLE;
    expect((await bulk({ subscriber_ids: twice, add_to_lists: lists }, many)).body).toEqual({
      updated: PEOPLE,
      added: all,
      removed: 0,
    });
    expect(await counts()).toEqual([PEOPLE, PEOPLE]);
    const [stays, ...left] = lists;
    const change = { subscriber_ids: people, add_to_lists: [stays], remove_from_lists: lists };
    expect((await bulk(change, many)).body).toEqual({ updated: PEOPLE, added: 0, removed: left.length * PEOPLE });
    expect(await counts()).toEqual([PEOPLE, 0]);
  });

  test("reports an unknown id as given", async () => {
    const given = SOME_ID.toUpperCase();
    expect((await bulk({ subscriber_ids: [given, given] })).body).toEqual({
      subscriber_ids: [`Invalid pk "${given}" - object does not exist.`],
    });
  });

  test.each([
    [{}, { subscriber_ids: ["This field is required."] }],
    [{ subscriber_ids: [] }, { subscriber_ids: ["This list may not be empty."] }],
    [{ subscriber_ids: ["x"] }, { subscriber_ids: ["Item at index 0: Must be a valid UUID."] }],
  ])("refuses %j", async (given, errors) => {
    expect(await bulk(given)).toMatchObject({ status: 400, body: errors });
  });

  test("accepts no more than 10,000 ids at once", async () => {
    const answer = await bulk({ subscriber_ids: Array(10_001).fill(SOME_ID) });
    expect(answer).toMatchObject({ status: 400, body: { subscriber_ids: [expect.stringContaining("10000")] } });
  });
});

describe("deleting in bulk", () => {
  const remove = (subscriber_ids: string[]) => own.api.post(`${SUBSCRIBERS}bulk-delete/`, { subscriber_ids });

  test("deletes each once, with counts and memberships", async () => {
    const list = await newList();
    const ids = await Promise.all([1, 2, 3].map((no) => newSubscriber(`del${no}@example.com`)));
    await bulk({ subscriber_ids: ids, add_to_lists: [list] });
    const before = (await own.api.get(SUBSCRIBERS)).body.count;
    expect(await remove([ids[0]!, ids[1]!, ids[0]!])).toMatchObject({ status: 200, body: { deleted: 2 } });
    expect(await countOf(list)).toBe(1);
    expect((await own.api.get(SUBSCRIBERS)).body.count).toBe(before - 2);
  });

  test("deletes nothing if one id is another company's", async () => {
    const [mine, theirs] = [await newSubscriber("keep@example.com"), await newSubscriber("keep@example.com", other)];
    expect((await remove([mine, theirs])).status).toBe(400);
    expect((await own.api.get(`${SUBSCRIBERS}${mine}/`)).status).toBe(200);
    expect((await other.api.get(`${SUBSCRIBERS}${theirs}/`)).status).toBe(200);
  });
});

describe("a filter instead of ids", () => {
  const change = (path: string, body: object, company = filtered) => company.api.post(`${SUBSCRIBERS}${path}/`, body);
  let filtered: TestCompany;
  const emails = async (filter: object) =>
    (await filtered.api.get(SUBSCRIBERS, { query: { page_size: 100, ...filter } })).body.results
      .map(({ email }: { email: string }) => email)
      .toSorted();
  beforeAll(async () => {
    filtered = await newCompany(app);
    const names = Array.from({ length: 45 }, (_, n) => `lantern${n}@example.com`);
    await query(
      "insert into subscribers (company_id, email) select $1::uuid, unnest($2::text[]) union all select $3::uuid, unnest($2::text[])",
      [filtered.id, names, other.id],
    );
    await newSubscriber("somebody@example.org", filtered);
  });

  test("puts everybody it matches on a list, suppresses, exports and deletes them, and nobody else", async () => {
    const list = await newList(filtered);
    const filter = { search: "LANTERN" };
    expect(await change("bulk-update-lists", { filter, add_to_lists: [list] })).toMatchObject({
      status: 200,
      body: { updated: 45, added: 45, removed: 0 },
    });
    expect((await change("bulk-update-lists", { filter: { list }, remove_from_lists: [list] })).body.removed).toBe(45);
    await change("bulk-update-lists", { filter: { search: "lantern1@" }, add_to_lists: [list] });
    expect((await change("bulk-suppress", { filter: { list, status: "active" }, reason: "By phone" })).body).toEqual({
      suppressed: 1,
      existing: 0,
    });
    expect((await change("bulk-suppress", { filter })).body).toEqual({ suppressed: 44, existing: 1 });
    const csv = (await filtered.api.get(`${SUBSCRIBERS}export/`, { query: filter })).text;
    expect(csv.trim().split("\r\n")).toHaveLength(46);
    expect((await change("bulk-delete", { filter })).body).toEqual({ deleted: 45 });
    expect(await emails({})).toEqual(["somebody@example.org"]);
    expect((await other.api.get(SUBSCRIBERS, { query: { search: "lantern" } })).body.count).toBe(45);
  });

  test.each([
    [{}, { subscriber_ids: ["This field is required."] }],
    [{ filter: {}, subscriber_ids: [SOME_ID] }, { filter: ["Give subscriber_ids or filter, not both."] }],
    [{ filter: { lst: SOME_ID } }, { filter: { lst: expect.anything() } }],
    [{ filter: { list: SOME_ID } }, { filter: [expect.stringContaining("does not exist")] }],
  ])("is refused with %j, and nobody is deleted", async (body, errors) => {
    const before = await emails({});
    const { status, body: answer } = await change("bulk-delete", body);
    expect(status).toBe(400);
    expect(Object.keys(answer)).toEqual(Object.keys(errors));
    expect(await emails({})).toEqual(before);
  });
});

test("deleting a company leaves no subscriber and no membership", async () => {
  const gone = await newCompany(app);
  const list = await newList(gone);
  await gone.api.post(SUBSCRIBERS, { email: "a@example.com", lists: [list] });
  await query("delete from companies where id = $1", [gone.id]);
  expect(await query("select from subscribers where company_id = $1", [gone.id])).toEqual([]);
  expect(await query("select from list_members where company_id = $1", [gone.id])).toEqual([]);
});
