import jwt from "jsonwebtoken";
import { Membership } from "../../../models/membership.ts";
import { call } from "../../../services/call.ts";
import { keysFor } from "../../../services/lib/secrets.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Answer, client, newCompany, someIp, type TestCompany } from "../../support/client.ts";

const seen = ({ status, body }: Answer) => [status, body];
const NOT_FOUND = [404, { detail: "Not found." }];

describe("accounts over HTTP", () => {
  let app: App;
  let company: TestCompany;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts", "gateway"] });
    company = await newCompany(app);
  });
  afterAll(() => app.stop());

  const anyone = () => client(app, { ip: someIp() });
  const person = (token = company.token) => client(app, { token });
  const path = (rest = "", of = company) => `/api/companies/${of.id}/${rest}`;

  test("a new user registers, logs in, creates a key and reads the plan with it", async () => {
    const email = "newcomer@example.com";
    const password = "correct horse battery";
    const registered = await anyone().post("/api/auth/register/", { email, password, company_name: "Acme" });
    expect(registered.status).toBe(201);
    const loggedIn = await anyone().post("/api/auth/login/", { email, password });
    expect(loggedIn.status).toBe(200);
    const [{ id }] = loggedIn.body.companies;
    expect(id).toBe(registered.body.company.id);
    const me = client(app, { token: loggedIn.body.access });
    const made = await me.post(`/api/companies/${id}/api-keys/`, { name: "Website" });
    expect(made.status).toBe(201);
    const plan = await client(app, { key: made.body.key }).get(`/api/companies/${id}/plan/`);
    expect(plan.status).toBe(200);
    expect(plan.body).toMatchObject({ plan: "unlimited", limits: { smtp_per_hour: null }, usage: { subscribers: 0 } });
    const keys = await me.get(`/api/companies/${id}/api-keys/`);
    expect(keys.body).toMatchObject({ count: 1, next: null, previous: null, results: [{ name: "Website" }] });
    expect(keys.text).not.toContain(made.body.key);
  });

  test("errors of a registration are reported by field, and a body that is not JSON gets one sentence", async () => {
    expect(seen(await anyone().post("/api/auth/register/", { email: company.email, password: "short" }))).toEqual([
      400,
      {
        email: ["A user with this email address already exists."],
        password: ["Ensure this field has at least 10 characters."],
        company_name: ["This field is required."],
      },
    ]);
    const broken = await anyone().post("/api/auth/login/", "{");
    expect([broken.status, broken.body.detail]).toEqual([400, expect.stringMatching(/^JSON parse error - /)]);
  });

  test("a wrong password and an unknown user get the same 401 with WWW-Authenticate", async () => {
    const password = "wrong horse battery";
    const wrong = await anyone().post("/api/auth/login/", { email: company.email, password });
    const unknown = await anyone().post("/api/auth/login/", { email: "nobody@example.com", password });
    expect(seen(wrong)).toEqual([401, { detail: "No active account found with the given credentials." }]);
    expect(seen(unknown)).toEqual(seen(wrong));
    expect(wrong.headers.get("www-authenticate")).toContain("Bearer");
  });

  test("register, login and refresh share a limit of five requests per minute and IP address", async () => {
    const one = anyone();
    const refresh = () => one.post("/api/auth/token/refresh/", { refresh: "x" });
    for (let n = 0; n < 2; n++) expect((await refresh()).status).toBe(401);
    for (let n = 0; n < 2; n++) expect((await one.post("/api/auth/register/", {})).status).toBe(400);
    expect((await one.post("/api/auth/login/", {})).status).toBe(400);
    const throttled = await refresh();
    expect(throttled.status).toBe(429);
    expect(throttled.body.detail).toMatch(/^Request was throttled\. Expected available in \d+ seconds\.$/);
    expect(Number(throttled.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await anyone().post("/api/auth/login/", {})).status).toBe(400);
  });

  test("a refresh token is valid once", async () => {
    const { body } = await anyone().post("/api/auth/login/", { email: company.email, password: company.password });
    const again = await anyone().post("/api/auth/token/refresh/", { refresh: body.refresh });
    expect(again.status).toBe(200);
    expect((await person(again.body.access).get(path())).status).toBe(200);
    const reused = await anyone().post("/api/auth/token/refresh/", { refresh: body.refresh });
    expect(seen(reused)).toEqual([401, { detail: "Token is invalid or expired." }]);
    const revoked = await anyone().post("/api/auth/token/refresh/", { refresh: again.body.refresh });
    expect(revoked.status).toBe(401);
  });

  test("missing or wrong credentials disclose nothing", async () => {
    const expired = jwt.sign({ sub: company.userId, iss: "flockmail", exp: 1 }, keysFor("bearer")[0]!);
    expect(seen(await anyone().get(path()))).toEqual([
      401,
      { detail: "Authentication credentials were not provided." },
    ]);
    expect(seen(await client(app, { key: "fm_nothing" }).get(path()))).toEqual([401, { detail: "Invalid API key." }]);
    expect((await person(expired).get(path())).status).toBe(401);
    expect((await person("x.y.z").get(path())).status).toBe(401);
  });

  test("a key is refused at once when deleted, and from its expiry on", async () => {
    const made = await person().post(path("api-keys/"), { name: "k" });
    const api = client(app, { key: made.body.key });
    expect((await api.get(path())).status).toBe(200);
    const deleted = await person().delete(path(`api-keys/${made.body.id}/`));
    expect([deleted.status, deleted.text]).toEqual([204, ""]);
    expect(seen(await api.get(path()))).toEqual([401, { detail: "Invalid API key." }]);

    const expires_at = new Date(Date.now() + 3_000).toISOString();
    const short = await person().post(path("api-keys/"), { name: "short", expires_at });
    const soon = client(app, { key: short.body.key });
    expect((await soon.get(path())).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, Date.parse(expires_at) - Date.now() + 5));
    expect((await soon.get(path())).status).toBe(401);
  });

  test("API keys cannot manage keys or members", async () => {
    for (const rest of ["api-keys/", "members/"]) {
      expect((await company.api.get(path(rest))).status).toBe(403);
      expect((await company.api.post(path(rest), {})).status).toBe(403);
    }
    expect((await company.api.get(path())).status).toBe(200);
    expect((await company.api.patch(path(), { footer_text: "By a key" })).body.footer_text).toBe("By a key");
  });

  test("a member may only read; a removed member loses access within a second", async () => {
    const other = await newCompany(app);
    await Membership.create({ companyId: company.id, userId: other.userId, role: "member" });
    const member = person(other.token);
    expect((await member.get(path())).status).toBe(200);
    expect((await member.patch(path(), { name: "Mine" })).status).toBe(403);
    expect((await member.post(path("api-keys/"), { name: "k" })).status).toBe(403);
    expect((await member.patch(path(`members/${other.userId}/`), { role: "owner" })).status).toBe(403);
    expect((await person().delete(path(`members/${other.userId}/`))).status).toBe(204);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(seen(await member.get(path()))).toEqual(NOT_FOUND);
  });

  test("a new password ends older sessions within a second, although their tokens are still valid", async () => {
    const victim = await newCompany(app);
    const oldSession = person(victim.token);
    expect((await oldSession.get(path("", victim))).status).toBe(200);
    await call(app.broker, "accounts.setPassword", { email: victim.email, password: "a new battery" });
    const refused = [401, { detail: "Invalid or expired token." }];
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(seen(await oldSession.get(path("", victim)))).toEqual(refused);
    expect(seen(await oldSession.post(path("api-keys/", victim), { name: "k" }))).toEqual(refused);
    expect((await victim.api.get(path("", victim))).status).toBe(200);
  });

  test("the last owner cannot be removed", async () => {
    const soleOwner = await newCompany(app);
    const removed = await person(soleOwner.token).delete(path(`members/${soleOwner.userId}/`, soleOwner));
    expect(seen(removed)).toEqual([400, { detail: "A company must keep at least one owner." }]);
  });

  test("another company's resources are 404 for people and keys", async () => {
    const other = await newCompany(app);
    const { body: key } = await person(other.token).post(path("api-keys/", other), { name: "k" });
    for (const by of [person(), company.api]) {
      expect(seen(await by.get(path("", other)))).toEqual(NOT_FOUND);
      expect(seen(await by.patch(path("", other), { name: "Mine" }))).toEqual(NOT_FOUND);
      expect(seen(await by.get(path("plan/", other)))).toEqual(NOT_FOUND);
    }
    expect(seen(await person().get(path("api-keys/", other)))).toEqual(NOT_FOUND);
    expect(seen(await person().get(path("members/", other)))).toEqual(NOT_FOUND);
    expect(seen(await person().delete(path(`api-keys/${key.id}/`)))).toEqual(NOT_FOUND);
    expect(seen(await person().delete(path(`members/${other.userId}/`)))).toEqual(NOT_FOUND);
    expect(seen(await person().get("/api/companies/none/"))).toEqual(NOT_FOUND);
  });

  test("the plan shows today's calls of the requesting key, and headers show the remainder", async () => {
    const small = await newCompany(app, { plan: "free" });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const first = await small.api.get(path("plan/", small));
    const second = await small.api.get(path("plan/", small));
    expect(second.body.limits).toEqual({
      api_calls_per_day: 1_000,
      subscribers: 500,
      emails_per_month: 3_000,
      smtp_per_hour: 100,
      media_bytes: 52_428_800,
    });
    expect(second.body.usage.api_calls_per_day).toBe(first.body.usage.api_calls_per_day + 1);
    expect(second.headers.get("x-ratelimit-limit")).toBe("1000");
    expect(second.headers.get("x-ratelimit-remaining")).toBe(String(1_000 - second.body.usage.api_calls_per_day));
  });
});
