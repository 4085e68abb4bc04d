import { query } from "../../../models/database/db.ts";
import { forgetPlan } from "../../../services/accounts/plans.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";

const PATH = "/api/emails/subscribers/";
const refused = { detail: "Subscriber limit reached. Your plan allows 3 subscribers." };

let app: App;
let company: TestCompany;

beforeAll(async () => {
  app = await startApp({ services: ["accounts", "subscribers", "gateway"], env: { TRUST_PROXY: "1" } });
  await query("insert into plans (name, subscribers) values ('three', 3)");
});
beforeEach(async () => {
  company = await newCompany(app, { plan: "three" });
  forgetPlan(company.id);
  for (const name of ["a", "b"]) await company.api.post(PATH, { email: `${name}@x.org` });
});
afterAll(() => app.stop());

const count = async () => (await company.api.get(PATH)).body.count;
const upload = (csv: string) => company.api.post(`${PATH}bulk/`, fileForm(csv, "x.csv"));
const subscribe = (email: string) =>
  client(app, { ip: someIp() }).post(`/api/emails/public/subscribe/${company.id}/`, { email });

describe("the plan's limit of subscribers", () => {
  test("admits one more, answers 403 to the next, and accepts an existing subscriber", async () => {
    expect((await company.api.post(PATH, { email: "c@x.org" })).status).toBe(201);
    expect(await company.api.post(PATH, { email: "d@x.org" })).toMatchObject({ status: 403, body: refused });
    expect((await company.api.post(PATH, { email: "A@x.org", first_name: "A" })).status).toBe(201);
    expect(await count()).toBe(3);
  });

  test("cannot be exceeded by concurrent requests", async () => {
    const asked = ["c", "d", "e", "f"].map((name) => company.api.post(PATH, { email: `${name}@x.org` }));
    const answers = await Promise.all([...asked, upload("email\ng@x.org\n"), subscribe("h@x.org")]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403, 403, 403, 403, 403]);
    expect(await count()).toBe(3);
  });

  test("refuses an import over it, which then imports and updates nothing", async () => {
    expect(await upload("email,first_name\na@x.org,Ann\nc@x.org,\nd@x.org,\n")).toMatchObject({
      status: 403,
      body: refused,
    });
    expect(await count()).toBe(2);
    expect((await company.api.get(PATH, { query: { search: "ann" } })).body.count).toBe(0);
  });

  test("admits an import of known subscribers and as many new ones as the plan allows", async () => {
    expect((await upload("email\na@x.org\nc@x.org\nC@x.org\n")).body).toMatchObject({ created: 1, updated: 2 });
  });

  test("answers 403 to a public subscription over it, but not to that of an existing subscriber", async () => {
    expect((await subscribe("c@x.org")).status).toBe(201);
    expect(await subscribe("d@x.org")).toMatchObject({ status: 403, body: refused });
    expect((await subscribe("b@x.org")).status).toBe(201);
  });
});
