import { Membership } from "../../../models/membership.ts";
import { call } from "../../../services/call.ts";
import { type App, startApp } from "../../support/app.ts";
import { cpuMsOf } from "../../support/cpu.ts";
import { refusal } from "../../support/refusal.ts";
import { PASSWORD, register } from "./tenant.ts";

const REFUSED = [401, { detail: "No active account found with the given credentials." }];

describe("login", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts"] });
  });
  afterAll(() => app.stop());

  const login = (email: string, password = PASSWORD) => call(app.broker, "accounts.login", { email, password });

  test("returns tokens, the user, and all companies with the user's role", async () => {
    const own = await register(app.broker);
    const other = await register(app.broker);
    await Membership.create({ companyId: other.id, userId: own.user.id, role: "admin" });
    const { access, refresh, user, companies } = await login(` ${own.email.toUpperCase()} `);
    expect(user).toEqual(own.user);
    expect(access).not.toBe(refresh);
    expect(companies).toEqual([
      { ...own.company, role: "owner" },
      { ...other.company, role: "admin" },
    ]);
  });

  test("is logged once when it fails, without address and password", async () => {
    const { email, user } = await register(app.broker);
    const info = jest.spyOn(app.broker.logger, "info").mockImplementation(() => {});
    const meta = { http: { ip: "192.0.2.1" } } as never;
    const attempt = (address: string) =>
      call(app.broker, "accounts.login", { email: address, password: "s3cret-s3cret" }, { meta }).catch(() => {});
    await attempt(email);
    await attempt("nobody@example.com");
    expect(info.mock.calls).toEqual([
      [{ ip: "192.0.2.1", userId: user.id, reason: "wrong password" }, "Login failed"],
      [{ ip: "192.0.2.1", userId: undefined, reason: "unknown address" }, "Login failed"],
    ]);
    info.mockClear();
    await login(email);
    expect(info).not.toHaveBeenCalled();
    info.mockRestore();
  });

  test("is refused alike for a wrong password and for a user that does not exist", async () => {
    const { email } = await register(app.broker);
    expect(await refusal(login(email, "wrong horse battery"))).toEqual(REFUSED);
    expect(await refusal(login("nobody@example.com"))).toEqual(REFUSED);
  });

  test("takes as much CPU for an unknown user", async () => {
    const { email } = await register(app.broker);
    // A hash takes about a hundred times as long as a lookup.
    const wrong = await cpuMsOf(() => refusal(login(email, "wrong horse battery")));
    const unknown = await cpuMsOf(() => refusal(login("no-one@example.com")));
    expect(unknown / wrong).toBeGreaterThan(0.2);
    expect(unknown / wrong).toBeLessThan(5);
  });

  test("requires both fields, and does not check the password's length", async () => {
    expect(await refusal(app.broker.call("accounts.login", {}))).toEqual([
      400,
      { email: ["This field is required."], password: ["This field is required."] },
    ]);
    expect(await refusal(login("nobody@example.com", "short"))).toEqual(REFUSED);
  });

  describe("is limited after 10 failures:", () => {
    const fail = async (email: string, times: number) => {
      for (let n = 0; n < times; n++) await refusal(login(email, "wrong horse battery"));
    };

    test("it waits, even with the right password, and says how long", async () => {
      const { email } = await register(app.broker);
      await fail(email, 10);
      const [status, body] = await refusal(login(email));
      expect(status).toBe(429);
      expect(body.detail).toMatch(/^Request was throttled\. Expected available in (2\d\d|300) seconds\.$/);
    });

    test("an unknown address is treated the same", async () => {
      await fail("unknown@example.com", 10);
      expect((await refusal(login("Unknown@example.com")))[0]).toBe(429);
    });

    test("failures before a successful login do not count", async () => {
      const { email } = await register(app.broker);
      await fail(email, 9);
      await login(email);
      await fail(email, 9);
      expect((await login(email)).user.email).toBe(email);
    });
  });

  test("still gives a removed member access to the remaining companies", async () => {
    const tenant = await register(app.broker);
    const { user, email } = await register(app.broker);
    await Membership.create({ companyId: tenant.id, userId: user.id, role: "member" });
    await call(app.broker, "accounts.removeMember", { id: tenant.id, user_id: user.id }, tenant);
    const { companies } = await login(email);
    expect(companies.map(({ id }) => id)).not.toContain(tenant.id);
    expect(companies).toHaveLength(1);
  });
});
