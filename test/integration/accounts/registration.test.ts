import { queryOne } from "../../../models/database/db.ts";
import { requireDefaultPlan } from "../../../services/accounts/plans.ts";
import { call } from "../../../services/call.ts";
import { verifyBearer } from "../../../services/lib/tokens/bearer.ts";
import { type App, startApp } from "../../support/app.ts";
import { answerTo, refusal } from "../../support/refusal.ts";
import { PASSWORD, register } from "./tenant.ts";

describe("registration", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts"], env: { DEFAULT_PLAN: "starter" } });
  });
  afterAll(() => app.stop());

  const attempt = (params: object) => app.broker.call("accounts.register", params);
  const isValid = (more: object = {}) => ({
    email: "new@example.com",
    password: PASSWORD,
    company_name: "Analytical Engines",
    ...more,
  });
  const rows = () =>
    queryOne<{ users: number; companies: number; memberships: number; tokens: number }>(
      `select (select count(*) from users) users, (select count(*) from companies) companies,
         (select count(*) from memberships) memberships, (select count(*) from refresh_tokens) tokens`,
    );

  test("creates a user, a company on the default plan with that owner, and tokens", async () => {
    const { user, company, access, refresh } = await call(app.broker, "accounts.register", {
      email: " Ada.Lovelace@Example.com ",
      password: PASSWORD,
      company_name: " Analytical Engines ",
      first_name: "Ada",
      last_name: "Lovelace",
    });
    expect(user).toMatchObject({ email: "Ada.Lovelace@Example.com", first_name: "Ada", last_name: "Lovelace" });
    expect(user).not.toHaveProperty("password_hash");
    expect(company).toMatchObject({ name: "Analytical Engines", double_opt_in: false, tracking_enabled: true });
    expect(access).toMatch(/^ey[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(refresh).toMatch(/^[\w-]{43}$/);
    const owner = { ...verifyBearer(access)!, companyId: company.id };
    expect(owner.userId).toBe(user.id);
    expect(await call(app.broker, "accounts.membershipOf", owner)).toEqual({ role: "owner" });
    const plan = await call(app.broker, "accounts.planOf", {}, { meta: { companyId: company.id } });
    expect(plan.plan).toBe("starter");
  });

  test("a logged-in user adds companies and owns them: five per hour, on the default plan", async () => {
    const { user } = await register(app.broker);
    const add = (meta: object) => call(app.broker, "accounts.addCompany", { name: " Lantern Books " }, { meta });
    const added = await add({ userId: user.id });
    expect(added).toMatchObject({ name: "Lantern Books", role: "owner" });
    const plan = await call(app.broker, "accounts.planOf", {}, { meta: { companyId: added.id } });
    expect(plan.plan).toBe("starter");
    for (let n = 2; n <= 5; n++) await add({ userId: user.id });
    expect((await refusal(add({ userId: user.id })))[0]).toBe(429);
    expect((await refusal(add({})))[0]).toBe(403);
    const { companies } = await call(app.broker, "accounts.me", {}, { meta: { userId: user.id } });
    expect(companies.filter(({ name }) => name === "Lantern Books").map(({ role }) => role)).toEqual(
      Array(5).fill("owner"),
    );
  });

  test("stores neither the password nor the refresh token", async () => {
    const { user, refresh } = await register(app.broker);
    const stored = await queryOne<{ password_hash: string; token_hash: Buffer }>(
      "select password_hash, token_hash from users u join refresh_tokens t on t.user_id = u.id where u.id = $1",
      [user.id],
    );
    expect(stored!.password_hash).toMatch(/^scrypt\$/);
    expect(stored!.password_hash).not.toContain(PASSWORD);
    expect(stored!.token_hash).toHaveLength(32);
    expect(stored!.token_hash.toString("base64url")).not.toBe(refresh);
  });

  test("reports all errors at once, including a taken address and a short password", async () => {
    const { email } = await register(app.broker);
    expect(await refusal(attempt({ email: email.toUpperCase(), password: "short", company_name: " " }))).toEqual([
      400,
      {
        email: ["A user with this email address already exists."],
        password: ["Ensure this field has at least 10 characters."],
        company_name: ["This field may not be blank."],
      },
    ]);
    expect(await refusal(attempt({}))).toEqual([
      400,
      {
        email: ["This field is required."],
        password: ["This field is required."],
        company_name: ["This field is required."],
      },
    ]);
  });

  test.each<[string, object, object]>([
    ["an address that is none", { email: "ada" }, { email: ["Enter a valid email address."] }],
    ["a number as password", { password: 1234567890 }, { password: ["Not a valid string."] }],
    [
      "a password over 1024 characters",
      { password: "x".repeat(1_025) },
      { password: ["Ensure this field has no more than 1024 characters."] },
    ],
    [
      "a password over 1024 bytes",
      { password: "é".repeat(600) },
      { password: ["Ensure this field has no more than 1024 bytes."] },
    ],
    [
      "a company name of two lines, which would reach mail headers",
      { company_name: "A\r\nBcc: b@example.com" },
      { company_name: ["Line breaks and control characters are not allowed."] },
    ],
    ["NUL in a name", { first_name: "A\0" }, { first_name: ["Null characters are not allowed."] }],
  ])("refuses %s", async (_, fault, body) => {
    const before = await rows();
    expect(await refusal(attempt(isValid(fault)))).toEqual([400, body]);
    expect(await rows()).toEqual(before);
  });

  test("creates one user and nothing else in concurrent requests with one address", async () => {
    const before = await rows();
    const params = isValid({ email: "twice@example.com" });
    const results = await Promise.allSettled([attempt(params), attempt(params), attempt(params)]);
    const lost = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(lost.map(answerTo)).toEqual(
      Array(2).fill([400, { email: ["A user with this email address already exists."] }]),
    );
    const after = await rows();
    for (const table of ["users", "companies", "memberships", "tokens"] as const) {
      expect(after![table] - before![table]).toBe(1);
    }
  });

  test("requires the default plan; without it the start is refused with one clear line", async () => {
    await expect(requireDefaultPlan("gold")).rejects.toThrow(
      'DEFAULT_PLAN is "gold", but there is no such plan. Choose one of: free, pro, starter, unlimited.',
    );
  });
});
