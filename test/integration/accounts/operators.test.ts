import { transaction } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { verifyBearer } from "../../../services/lib/tokens/bearer.ts";
import { type App, startApp } from "../../support/app.ts";
import { refusal } from "../../support/refusal.ts";
import { NOT_FOUND, PASSWORD, register } from "./tenant.ts";

// Nothing listens on port 1, so Redis is unavailable in the whole file.
describe("an operator, on a node without Redis,", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts"], env: { REDIS_URL: "redis://127.0.0.1:1" } });
  });
  afterAll(() => app.stop());

  test("creates a company with a key that works", async () => {
    const { company, key } = await call(app.broker, "accounts.createCompany", { name: "Acme", plan: "pro" });
    expect(company.name).toBe("Acme");
    const found = await call(app.broker, "accounts.authenticateKey", { key: key.key });
    expect(found).toMatchObject({ companyId: company.id, apiKeyId: key.id, expiresAt: null, scopes: ["full"] });
    expect((await call(app.broker, "accounts.planOf", {}, { meta: { companyId: company.id } })).plan).toBe("pro");
    expect((await refusal(call(app.broker, "accounts.createCompany", { name: "Acme", plan: "gold" })))[0]).toBe(400);
  });

  test("finds companies with their owners and usage", async () => {
    const { company, email } = await register(app.broker);
    const { results } = await call(app.broker, "accounts.listCompanies", { search: company.id });
    expect(results).toEqual([
      {
        id: company.id,
        name: company.name,
        plan: "unlimited",
        owners: [email],
        subscribers: 0,
        emails_this_month: 0,
        sending_paused_at: null,
        created_at: company.created_at,
      },
    ]);
    expect((await call(app.broker, "accounts.listCompanies", { page_size: 1 })).count).toBeGreaterThan(1);
  });

  test("pauses a company once, even if repeated, and resumes it", async () => {
    const { id } = await register(app.broker);
    const of = { company_id: id };
    const paused = await call(app.broker, "accounts.pauseCompany", of);
    expect(paused.sending_paused_at).toMatch(/Z$/);
    expect(await call(app.broker, "accounts.pauseCompany", of)).toEqual(paused);
    expect(await call(app.broker, "accounts.resumeCompany", of)).toEqual({ id, sending_paused_at: null });
    expect(await refusal(call(app.broker, "accounts.pauseCompany", { company_id: newId() }))).toEqual(NOT_FOUND);
    expect(await refusal(call(app.broker, "accounts.setPlan", { company_id: newId(), plan: "pro" }))).toEqual(
      NOT_FOUND,
    );
  });

  test("pauses a company and changes its plan without waiting for concurrent writes", async () => {
    const { id } = await register(app.broker);
    await transaction(async (client) => {
      await client.query("insert into lists (id, company_id, name) values ($1, $2, 'Import')", [newId(), id]);
      await call(app.broker, "accounts.pauseCompany", { company_id: id, reason: "Complaints" });
      await call(app.broker, "accounts.setPlan", { company_id: id, plan: "pro", reason: "Sold" });
    });
    const { results } = await call(app.broker, "accounts.listCompanies", { search: id });
    expect(results).toMatchObject([{ plan: "pro", sending_paused_at: expect.any(String) }]);
  });

  test("sets a user's password, and ends all logins made with the old one", async () => {
    const { email, refresh, access, id } = await register(app.broker);
    const roleBy = (token: string) =>
      call(app.broker, "accounts.membershipOf", { ...verifyBearer(token)!, companyId: id });
    expect(await roleBy(access)).toEqual({ role: "owner" });
    expect(await call(app.broker, "accounts.setPassword", { email, password: "a new battery" })).toBeNull();
    const login = (password: string) => call(app.broker, "accounts.login", { email, password });
    expect((await refusal(login(PASSWORD)))[0]).toBe(401);
    expect((await refusal(call(app.broker, "accounts.refresh", { refresh })))[0]).toBe(401);
    expect(await refusal(roleBy(access))).toEqual([401, { detail: "Invalid or expired token." }]);
    const { refresh: fresh, access: newAccess } = await login("a new battery");
    expect(await roleBy(newAccess)).toEqual({ role: "owner" });
    expect((await call(app.broker, "accounts.refresh", { refresh: fresh })).access).toBeTruthy();
    const nobody = { email: "nobody@example.com", password: "a new battery" };
    expect(await refusal(call(app.broker, "accounts.setPassword", nobody))).toEqual(NOT_FOUND);
  });

  test("prevents logins with the old password during the change", async () => {
    const { email, id } = await register(app.broker);
    const logins = Array.from({ length: 6 }, () =>
      call(app.broker, "accounts.login", { email, password: PASSWORD }).catch(() => null),
    );
    const change = call(app.broker, "accounts.setPassword", { email, password: "a new battery" });
    const tokens = (await Promise.all(logins)).filter((login) => login !== null);
    await change;
    for (const { access, refresh } of tokens) {
      expect((await refusal(call(app.broker, "accounts.refresh", { refresh })))[0]).toBe(401);
      const asked = { ...verifyBearer(access)!, companyId: id };
      expect((await refusal(call(app.broker, "accounts.membershipOf", asked)))[0]).toBe(401);
    }
  });

  test("lets people log in, rate limited by counts in the process's memory", async () => {
    const { email } = await register(app.broker);
    const attempt = () => call(app.broker, "accounts.login", { email, password: "wrong horse battery" });
    const codes: number[] = [];
    for (let n = 0; n < 11; n++) codes.push((await refusal(attempt()))[0]);
    expect(codes).toEqual([...Array(10).fill(401), 429]);
  });
});
