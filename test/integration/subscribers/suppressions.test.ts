import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { notSuppressed } from "../../../models/statements/not-suppressed.ts";
import { markResubscribed, markUnsubscribed } from "../../../models/statements/unsubscribe.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

const PATH = "/api/emails/suppressions/";
const SUBSCRIBERS = "/api/emails/subscribers/";

let app: App;
let own: TestCompany;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
});
beforeEach(async () => {
  own = await newCompany(app);
});
afterAll(() => app.stop());

const newSubscriber = async (email: string, status = "active") => {
  const { id } = (await own.api.post(SUBSCRIBERS, { email })).body;
  await query("update subscribers set status = $3 where company_id = $1 and id = $2", [own.id, id, status]);
  return id as string;
};
const statusOf = async (id: string) => (await own.api.get(`${SUBSCRIBERS}${id}/`)).body.status;
const block = (email: string, kind: string) =>
  queryOne<{ id: string }>("insert into suppressions (company_id, email, kind) values ($1, $2, $3) returning id", [
    own.id,
    email,
    kind,
  ]);

describe("a suppression", () => {
  test("is shown with the subscriber, by address or domain, in every answer that has subscribers", async () => {
    const suppressionOf = async (id: string) => (await own.api.get(`${SUBSCRIBERS}${id}/`)).body.suppression;
    const [free, address, domain, both] = [
      await newSubscriber("free@example.com"),
      await newSubscriber("Jürgen@Bücher.example"),
      await newSubscriber("a@mail.example.org"),
      await newSubscriber("b@example.org"),
    ];
    expect(await suppressionOf(domain)).toBeNull();
    const made = await own.api.post(PATH, { email: "Jürgen@xn--bcher-kva.example", kind: "bounced" });
    await block("b@example.org", "unsubscribed");
    const { created_at } = (await own.api.post(PATH, { domain: "example.org" })).body;
    const all = {
      [free]: null,
      [address]: { kind: "bounced", created_at: made.body.created_at },
      [domain]: { kind: "manual", created_at },
      [both]: { kind: "manual", created_at },
    };
    for (const [id, suppression] of Object.entries(all)) expect(await suppressionOf(id)).toEqual(suppression);
    const listed = (await own.api.get(SUBSCRIBERS)).body.results as { id: string; suppression: unknown }[];
    expect(Object.fromEntries(listed.map(({ id, suppression }) => [id, suppression]))).toEqual(all);
    expect((await own.api.patch(`${SUBSCRIBERS}${domain}/`, { first_name: "A" })).body.suppression).toEqual(
      all[domain],
    );
    expect((await own.api.post(SUBSCRIBERS, { email: "new@example.org" })).body.suppression).toEqual(all[domain]);
    const stranger = await newCompany(app);
    const theirs = await stranger.api.post(SUBSCRIBERS, { email: "b@example.org" });
    expect(theirs.body.suppression).toBeNull();
  });

  test("is either of an address without a domain, or of a domain without an address", async () => {
    expect(await own.api.post(PATH, { email: " Ann@Example.com ", reason: "asked" })).toMatchObject({
      status: 201,
      body: { email: "Ann@Example.com", domain: null, kind: "manual", reason: "asked", created_at: expect.any(String) },
    });
    expect(await own.api.post(PATH, { email: null, domain: "@Bücher.Example." })).toMatchObject({
      status: 201,
      body: { email: null, domain: "xn--bcher-kva.example", kind: "manual", reason: "" },
    });
  });

  test("is returned again if the same address is suppressed again", async () => {
    const first = (await own.api.post(PATH, { email: "ann@example.com", reason: "one" })).body;
    expect(await own.api.post(PATH, { email: "ANN@example.com" })).toMatchObject({ status: 201, body: first });
    const domain = (await own.api.post(PATH, { domain: "example.org" })).body;
    expect((await own.api.post(PATH, { domain: "EXAMPLE.org" })).body.id).toBe(domain.id);
    expect((await own.api.get(PATH)).body.count).toBe(2);
  });

  test("becomes manual if created over an unsubscribe; a bounce stays a bounce", async () => {
    await block("gone@example.com", "unsubscribed");
    await block("bad@example.com", "bounced");
    expect((await own.api.post(PATH, { email: "gone@example.com", reason: "r" })).body).toMatchObject({
      kind: "manual",
      reason: "r",
    });
    expect((await own.api.post(PATH, { email: "bad@example.com" })).body.kind).toBe("bounced");
  });

  const exactlyOne = { non_field_errors: ["Give exactly one of email and domain."] };
  test.each([
    [{}, exactlyOne],
    [{ reason: "x" }, exactlyOne],
    [{ email: null, domain: null }, exactlyOne],
    [{ email: "a@b.de", domain: "b.de" }, exactlyOne],
    [{ email: "a@" }, { email: ["Enter a valid email address."] }],
    [{ domain: "localhost" }, { domain: ["Enter a valid domain."] }],
    [{ domain: "" }, { domain: ["Enter a valid domain."] }],
    ...["gmail.com/x", "gmail.com?x", "gmail.com#x", "gmail.com:25", "ann@gmail.com", "gm%61il.com", "gm\nail.com"].map(
      (domain): [object, object] => [{ domain }, { domain: ["Enter a valid domain."] }],
    ),
    [
      { domain: 5, reason: 5 },
      { domain: ["Not a valid string."], reason: ["Not a valid string."] },
    ],
  ])("is refused with %j", async (given, errors) => {
    expect(await own.api.post(PATH, given)).toMatchObject({ status: 400, body: errors });
    expect((await own.api.get(PATH)).body.count).toBe(0);
  });

  test("is listed, found by search and kind, and missing for another company", async () => {
    const { id } = (await own.api.post(PATH, { email: "ann@example.com" })).body;
    await own.api.post(PATH, { domain: "example.org" });
    await block("b@example.com", "bounced");
    expect((await own.api.get(PATH)).body.count).toBe(3);
    expect((await own.api.get(PATH, { query: { search: "EXAMPLE.ORG" } })).body.count).toBe(1);
    expect((await own.api.get(PATH, { query: { kind: "bounced" } })).body.count).toBe(1);
    await own.api.post(PATH, { domain: "bücher.example" });
    for (const search of ["Bücher", "xn--bcher"]) {
      expect((await own.api.get(PATH, { query: { search } })).body.count).toBe(1);
    }
    expect((await own.api.get(PATH, { query: { ordering: "email" } })).status).toBe(200);
    const other = await newCompany(app);
    expect((await other.api.get(`${PATH}${id}/`)).status).toBe(404);
    expect((await other.api.delete(`${PATH}${id}/`)).status).toBe(404);
    expect((await own.api.get(`${PATH}${id}/`)).body.email).toBe("ann@example.com");
  });

  test.each([
    ["bounced", "bounced"],
    ["unsubscribed", "unsubscribed"],
  ])("reactivates, when deleted, a subscriber who had %s", async (kind, status) => {
    const subscriber = await newSubscriber("Ann@example.com", status);
    const { id } = (await block("ann@EXAMPLE.com", kind))!;
    expect((await own.api.delete(`${PATH}${id}/`)).status).toBe(204);
    expect(await statusOf(subscriber)).toBe("active");
    expect((await own.api.delete(`${PATH}${id}/`)).status).toBe(404);
  });

  test("leaves, when deleted, an unconfirmed subscriber unconfirmed", async () => {
    const subscriber = await newSubscriber("new@example.com", "unconfirmed");
    const { id } = (await own.api.post(PATH, { email: "new@example.com" })).body;
    await own.api.delete(`${PATH}${id}/`);
    expect(await statusOf(subscriber)).toBe("unconfirmed");
  });
});

describe("an unsubscribe", () => {
  const leave = (email: string) => transaction((client) => markUnsubscribed(client, { companyId: own.id, email }));
  const comeBack = (email: string) => transaction((client) => markResubscribed(client, { companyId: own.id, email }));
  const kinds = async () => (await own.api.get(PATH)).body.results.map(({ kind }: { kind: string }) => kind);

  test("takes effect once, however many concurrent requests there are", async () => {
    const id = await newSubscriber("Ann@example.com");
    const first = await Promise.all(Array.from({ length: 5 }, () => leave("ann@example.com")));
    expect(first.filter(Boolean)).toHaveLength(1);
    expect(await statusOf(id)).toBe("unsubscribed");
    expect(await kinds()).toEqual(["unsubscribed"]);
  });

  test("keeps a stronger suppression and a bounce", async () => {
    const id = await newSubscriber("bad@example.com", "bounced");
    await block("bad@example.com", "bounced");
    expect(await leave("bad@example.com")).toBe(false);
    expect(await statusOf(id)).toBe("bounced");
    expect(await kinds()).toEqual(["bounced"]);
  });

  test("can be undone by the subscriber; a bounce, a complaint or the company's own suppression cannot", async () => {
    const id = await newSubscriber("ann@example.com");
    await leave("ann@example.com");
    expect(await comeBack("Ann@Example.com")).toBe(true);
    expect(await statusOf(id)).toBe("active");
    expect(await kinds()).toEqual([]);
    for (const kind of ["manual", "bounced", "complained"]) {
      await block(`${kind}@example.com`, kind);
      expect(await comeBack(`${kind}@example.com`)).toBe(false);
    }
    expect(await kinds()).toHaveLength(3);
  });
});

describe("suppressed addresses, as SQL", () => {
  const allowed = async (addresses: string[], transactional = false) => {
    const rows = await query<{ email: string }>(
      `select a.email from unnest($2::text[]) with ordinality a (email, no)
       where ${notSuppressed({ key: "address_key(a.email)", company: "$1", transactional: String(transactional) })} order by no`,
      [own.id, addresses],
    );
    return rows.map(({ email }) => email);
  };

  test("match nothing without suppressions, and nothing by another company's", async () => {
    const other = await newCompany(app);
    await other.api.post(PATH, { domain: "example.org" });
    await other.api.post(PATH, { email: "a@x.org" });
    expect(await allowed(["a@x.org", "b@example.org"])).toEqual(["a@x.org", "b@example.org"]);
  });

  test("match addresses without regard to case; transactional mail ignores an unsubscribe only", async () => {
    for (const kind of ["manual", "unsubscribed", "bounced", "complained"]) await block(`${kind}@X.org`, kind);
    const all = ["MANUAL@x.org", "unsubscribed@x.org", "bounced@x.org", "complained@x.org", "free@x.org"];
    expect(await allowed(all)).toEqual(["free@x.org"]);
    expect(await allowed(all, true)).toEqual(["unsubscribed@x.org", "free@x.org"]);
  });

  test("match a domain and its subdomains, in either spelling, but no other domain with the same ending; the same as blocked_by()", async () => {
    for (const domain of ["example.org", "news.example.com", "Bücher.example"]) await own.api.post(PATH, { domain });
    const all = [
      "a@example.org",
      "a@Deep.mail.EXAMPLE.org",
      "a@notexample.org",
      "a@example.com",
      "a@news.example.com",
      "a@x.news.example.com",
      "a@org",
      "a@bücher.example",
      "a@shop.bücher.example",
      "a@xn--bcher-kva.example",
    ];
    const free = ["a@notexample.org", "a@example.com", "a@org"];
    expect(await allowed(all)).toEqual(free);
    expect(await allowed(all, true)).toEqual(free);
    const one = await query<{ email: string }>(
      "select email from unnest($2::text[]) with ordinality a (email, no) where blocked_by($1, email) is null order by no",
      [own.id, all],
    );
    expect(one.map(({ email }) => email)).toEqual(free);
  });
});
