import { query } from "../../../models/database/db.ts";
import { forgetPlan } from "../../../services/accounts/plans.ts";
import { newId } from "../../../services/lib/ids.ts";
import { countSegment } from "../../../services/subscribers/count-segment.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

const PATH = "/api/emails/segments/";
const SOME_ID = "018f0000-0000-7000-8000-00000000abcd";
const inLondon = { conditions: [{ field: "attributes.city", operator: "equals", value: "London" }] };

let app: App;
let own: TestCompany;
let other: TestCompany;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"] });
  [own, other] = [await newCompany(app), await newCompany(app)];
  for (const [no, city] of ["London", "london", "Rome"].entries()) {
    await own.api.post("/api/emails/subscribers/", { email: `s${no}@example.com`, attributes: { city } });
    await other.api.post("/api/emails/subscribers/", { email: `s${no}@example.com`, attributes: { city } });
  }
});
afterAll(() => app.stop());

test("a segment that takes long to count is estimated from database statistics", async () => {
  const large = await newCompany(app);
  const people = 20_000;
  await query(
    "insert into subscribers (company_id, email) select $1, 'u' || n % 4 || '.' || n || '@x.org' from generate_series(1, $2::int) n",
    [large.id, people],
  );
  await query("analyze subscribers");
  const rules = { conditions: [{ field: "email", operator: "starts_with", value: "u1" }] };
  expect(await countSegment(large.id, rules, 50_000)).toEqual({ n: people / 4, isEstimate: false });
  const { n, isEstimate } = await countSegment(large.id, rules, 1);
  expect(isEstimate).toBe(true);
  expect(n).toBeGreaterThan(0);
  expect(n).toBeLessThanOrEqual(people);
});

describe("a segment", () => {
  test("is created, counted, changed, listed and deleted", async () => {
    const made = await own.api.post(PATH, { name: "Londoners", rules: inLondon });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: "Londoners",
        description: "",
        rules: { match: "all", ...inLondon },
        created_at: expect.any(String),
        subscriber_count: 2,
        subscriber_count_is_estimate: false,
      },
    });
    const path = `${PATH}${made.body.id}/`;
    expect((await own.api.get(path)).body).toEqual(made.body);
    expect((await own.api.get(path, { query: { count: "false" } })).body).toEqual({
      ...made.body,
      subscriber_count: null,
      subscriber_count_is_estimate: false,
      not_dates: [],
    });
    expect((await own.api.get(`${path}subscribers/`)).body).toMatchObject({
      count: 2,
      results: [{ email: "s1@example.com" }, { email: "s0@example.com" }],
    });
    expect((await own.api.get(`${path}subscribers/`, { query: { search: "s0" } })).body.count).toBe(1);

    const rules = {
      match: "any",
      conditions: [...inLondon.conditions, { field: "email", operator: "starts_with", value: "s2" }],
    };
    expect((await own.api.patch(path, { description: "All", rules })).body).toMatchObject({
      name: "Londoners",
      description: "All",
      rules,
      subscriber_count: 3,
    });
    expect((await own.api.get(path)).body.subscriber_count).toBe(3);
    expect((await own.api.get(PATH, { query: { search: "london" } })).body).toMatchObject({
      count: 1,
      results: [{ description: "All" }],
    });
    expect((await own.api.delete(path)).status).toBe(204);
    expect((await own.api.get(path)).status).toBe(404);
    expect((await own.api.get(`${path}subscribers/`)).status).toBe(404);
  });

  test("is 404 for another company, everywhere", async () => {
    const path = `${PATH}${(await other.api.post(PATH, { name: "Theirs", rules: inLondon })).body.id}/`;
    expect((await own.api.get(path)).status).toBe(404);
    expect((await own.api.get(`${path}subscribers/`)).status).toBe(404);
    expect((await own.api.patch(path, { name: "Mine" })).status).toBe(404);
    expect((await own.api.delete(path)).status).toBe(404);
    expect((await other.api.get(path)).body.name).toBe("Theirs");
  });

  test("cannot refer to another company's list or campaign", async () => {
    const foreign = (await other.api.post("/api/emails/lists/", { name: "L" })).body.id;
    const conditions = [
      ...inLondon.conditions,
      { field: "list", operator: "in", value: [foreign] },
      { field: "opened_campaign", operator: "equals", value: SOME_ID },
    ];
    expect(await own.api.post(PATH, { name: "S", rules: { conditions } })).toMatchObject({
      status: 400,
      body: {
        rules: [
          `Condition at index 1: Invalid pk "${foreign}" - object does not exist.`,
          `Condition at index 2: Invalid pk "${SOME_ID}" - object does not exist.`,
        ],
      },
    });
  });

  test.each([
    [{}, { name: ["This field is required."], rules: ["This field is required."] }],
    [{ name: "S", rules: null }, { rules: ["This field may not be null."] }],
    [{ name: "S", rules: {} }, { rules: ["conditions: This field is required."] }],
    [{ name: "S", rules: { conditions: [] } }, { rules: ["At least one condition is required."] }],
    [{ name: "S", rules: { conditions: [3] } }, { rules: [expect.stringContaining("index 0")] }],
    [{ name: "S", rules: { ...inLondon, match: "none" } }, { rules: ['match: "none" is not a valid choice.'] }],
    [
      { name: " ", rules: { conditions: [{ field: "email", operator: "gt", value: 1 }] } },
      { name: ["This field may not be blank."], rules: ['Condition at index 0: "gt" is not an operator of email.'] },
    ],
  ])("is refused with %j", async (given, errors) => {
    expect(await own.api.post(PATH, given)).toMatchObject({ status: 400, body: errors });
  });

  test.each(["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+14:00", "0000-01-01"])(
    "a date outside of the years 1 to 9999 in UTC is refused: %s",
    async (value) => {
      const rules = { conditions: [{ field: "created_at", operator: "before", value }] };
      expect((await own.api.post(PATH, { name: "Far", rules })).status).toBe(400);
    },
  );

  test("is a 400 that names the condition if it was stored with invalid rules by an older version", async () => {
    const { id } = (await own.api.post(PATH, { name: "Old", rules: inLondon })).body;
    const rules = { conditions: [{ field: "created_at", operator: "before", value: "9999-12-31T23:59:59-23:59" }] };
    await query("update segments set rules = $2 where id = $1", [id, JSON.stringify(rules)]);
    for (const path of [`${PATH}${id}/`, `${PATH}${id}/subscribers/`]) {
      const { status, body } = await own.api.get(path);
      expect([path, status, body]).toEqual([path, 400, { rules: [expect.stringContaining("Condition at index 0")] }]);
    }
    expect((await own.api.patch(`${PATH}${id}/`, { rules: inLondon })).status).toBe(200);
  });

  test.each(["is_empty", "is_not_empty"])("ignores the value of %s, whatever it is", async (operator) => {
    for (const value of ["x", 1, null, { toString: null }, ["a", {}]]) {
      const conditions = [{ field: "list", operator, value }];
      const created = await own.api.post(PATH, { name: "S", rules: { conditions } });
      expect(created.status).toBe(201);
      expect((await own.api.get(`${PATH}${created.body.id}/`)).status).toBe(200);
    }
  });

  test("reports errors of conditions and schema together", async () => {
    const conditions = ["nonsense", { field: "nope", operator: "equals", value: 1 }, inLondon.conditions[0]];
    expect((await own.api.post(PATH, { name: "x", rules: { match: "some", conditions } })).body).toEqual({
      rules: [
        'match: "some" is not a valid choice.',
        "Condition at index 0: Expected an object.",
        'Condition at index 1: "nope" is not a field.',
      ],
    });
    expect((await own.api.post(PATH, { name: "x", rules: { conditions: "all" } })).body).toEqual({
      rules: ['conditions: Expected a list of items but got type "str".'],
    });
  });

  test("needs the plan's feature to be created or changed", async () => {
    const poor = await newCompany(app);
    const path = `${PATH}${(await poor.api.post(PATH, { name: "S", rules: inLondon })).body.id}/`;
    await query("update companies set plan = 'starter' where id = $1", [poor.id]);
    forgetPlan(poor.id);
    const answer = await poor.api.post(PATH, { name: "S", rules: inLondon });
    const detail = {
      code: "feature_not_available",
      message: expect.any(String),
      feature: "segments",
      package: "starter",
    };
    expect(answer).toMatchObject({ status: 403, body: { detail } });
    expect((await poor.api.patch(path, { name: "T" })).status).toBe(403);
    expect((await poor.api.post(`${PATH}preview/`, { rules: inLondon })).status).toBe(403);
    expect((await poor.api.get(path)).status).toBe(200);
  });
});

describe("an attribute in another case", () => {
  const rulesOf = (name: string) => ({
    conditions: [{ field: `attributes.${name}`, operator: "equals", value: "London" }],
  });

  test("means the existing one; it stays as given if ambiguous or existing itself", async () => {
    const { api } = await newCompany(app);
    const person = (email: string, attributes: object) => api.post("/api/emails/subscribers/", { email, attributes });
    await person("a@x.org", { City: "London", Town: "London", TOWN: "Rome", Ort: "London" });
    await person("b@x.org", { CITY_OF_BIRTH: "Rome", ort: "London" });
    const made = await api.post(PATH, { name: "S", rules: rulesOf("city") });
    expect(made.body).toMatchObject({ rules: rulesOf("City"), subscriber_count: 1 });
    const path = `${PATH}${made.body.id}/`;
    const changed = async (name: string) => (await api.patch(path, { rules: rulesOf(name) })).body;
    expect(await changed("cITY")).toMatchObject({ rules: rulesOf("City"), subscriber_count: 1 });
    expect(await changed("town")).toMatchObject({ rules: rulesOf("town"), subscriber_count: 0 });
    expect(await changed("ort")).toMatchObject({ rules: rulesOf("ort"), subscriber_count: 1 });
    expect(await changed("other")).toMatchObject({ rules: rulesOf("other"), subscriber_count: 0 });
    const preview = await api.post(`${PATH}preview/`, { rules: rulesOf("CITY") });
    expect(preview.body).toMatchObject({ subscriber_count: 1, sample: [{ email: "a@x.org" }] });
  });

  test("is found, too, if only older subscribers have it", async () => {
    const { id, api } = await newCompany(app);
    await api.post("/api/emails/subscribers/", { email: "first@x.org", attributes: { city: "London" } });
    await query(
      `insert into subscribers (company_id, email, attributes) select $1, n || '@x.org', '{"City": "Rome"}'
       from generate_series(1, 2100) n`,
      [id],
    );
    const made = await api.post(PATH, { name: "S", rules: rulesOf("city") });
    expect(made.body).toMatchObject({ rules: rulesOf("city"), subscriber_count: 1 });
  });
});

describe("rules that are not saved", () => {
  test("are counted, with the newest matches, and nothing is stored", async () => {
    const { api } = await newCompany(app);
    for (let n = 0; n < 7; n++) {
      await api.post("/api/emails/subscribers/", { email: `p${n}@x.org`, attributes: { city: "London", n } });
    }
    await api.post("/api/emails/subscribers/", { email: "q@x.org", attributes: { "last order": "2024-01-01" } });
    const rules = { conditions: [{ field: "attributes.city", operator: "equals", value: "london" }] };
    const { status, body } = await api.post("/api/emails/segments/preview/", { rules });
    expect(status).toBe(200);
    expect(body).toMatchObject({ subscriber_count: 7, subscriber_count_is_estimate: false });
    expect(body.sample.map(({ email }: { email: string }) => email)).toEqual([6, 5, 4, 3, 2].map((n) => `p${n}@x.org`));
    expect((await api.get("/api/emails/segments/")).body.count).toBe(0);
    expect((await api.get("/api/emails/subscribers/attributes/")).body).toEqual({ names: ["city", "last order", "n"] });
  });

  test("find people by their consecutive soft bounces, which a delivery resets", async () => {
    const company = await newCompany(app);
    for (const [n, email] of ["never@example.com", "often@example.com", "again@example.com"].entries()) {
      await company.api.post("/api/emails/subscribers/", { email });
      await query(
        `update subscribers set soft_bounces = $3, soft_bounced_at = now() - interval '2 years'
         where company_id = $1 and email = $2`,
        [company.id, email, n === 0 ? 0 : 4],
      );
    }
    const campaign = newId();
    await query(
      `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, no)
       values ($2, $1, 'C', 'custom', 'completed', $1, $1, next_campaign_no())`,
      [company.id, campaign],
    );
    await query(
      `insert into sent_emails (campaign_no, seq, subscriber_id, status, sent_at)
       select c.no, 1, s.id, 2, now() - interval '1 year' from campaigns c, subscribers s
       where c.id = $2 and s.company_id = $1 and s.email like 'again%'`,
      [company.id, campaign],
    );
    const found = async (operator: string, value: number) => {
      const conditions = [{ field: "soft_bounces", operator, value }];
      const { status, body } = await company.api.post("/api/emails/segments/preview/", { rules: { conditions } });
      expect(status).toBe(200);
      return body.subscriber_count;
    };
    expect([await found("gte", 4), await found("gt", 4), await found("equals", 0)]).toEqual([1, 0, 2]);
    expect([await found("not_equals", 4), await found("lt", 4), await found("lte", 4)]).toEqual([2, 2, 3]);
  });

  test("are a 400 that names the condition if they are invalid", async () => {
    const { api } = await newCompany(app);
    const rules = { conditions: [{ field: "complained", operator: "equals", value: "maybe" }] };
    expect(await api.post("/api/emails/segments/preview/", { rules })).toMatchObject({
      status: 400,
      body: { rules: ["Condition at index 0: The value must be true or false."] },
    });
  });
});
