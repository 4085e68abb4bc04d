import { Membership } from "../../../models/membership.ts";
import { call } from "../../../services/call.ts";
import type { Caller } from "../../../services/lib/caller.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, type TestCompany } from "../../support/client.ts";
import { refusal } from "../../support/refusal.ts";
import { FORBIDDEN, join, NOT_FOUND, seed } from "./tenant.ts";

const ROUNDS = 5;

const SERVER = {
  name: "Relay",
  host: "127.0.0.1",
  port: 2525,
  username: "",
  password: "",
  use_tls: false,
  sender_email: "news@example.com",
};

describe("a revoked role", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts", "gateway", "smtp-sender", "renderer", "webhooks"] });
  });
  afterAll(() => app.stop());

  /** Company with two owners, the second of whom is in every gateway's cache. */
  async function twoOwners() {
    const [first, second] = [await newCompany(app), await newCompany(app)];
    await Membership.create({ companyId: first.id, userId: second.userId, role: "owner" });
    const asSecond = client(app, { token: second.token });
    expect((await asSecond.get(`/api/companies/${first.id}/`)).status).toBe(200);
    return { first, second, asFirst: client(app, { token: first.token }), asSecond };
  }

  const memberPath = (company: TestCompany, member: TestCompany) =>
    `/api/companies/${company.id}/members/${member.userId}/`;

  test(`is lost at once: a demoted owner cannot restore it in the same second, ${ROUNDS} of ${ROUNDS} times`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { first, second, asFirst, asSecond } = await twoOwners();
      expect((await asFirst.patch(memberPath(first, second), { role: "member" })).status).toBe(200);
      expect((await asSecond.patch(memberPath(first, second), { role: "owner" })).status).toBe(403);
      const made = await asSecond.post(`/api/companies/${first.id}/api-keys/`, { name: "Back door" });
      expect(made.status).toBe(403);
    }
  });

  test("is lost at once on every notified gateway for a removed owner", async () => {
    const { first, second, asFirst, asSecond } = await twoOwners();
    expect((await asFirst.delete(memberPath(first, second))).status).toBe(204);
    expect((await asSecond.get(`/api/companies/${first.id}/`)).status).toBe(404);
  });

  describe("allows no privileged write, even if the gateway was not notified:", () => {
    const key = { companyId: "", name: "Key" };
    const writes: Record<string, (id: string, meta: Caller) => Promise<unknown>> = {
      "change settings": (id, meta) => call(app.broker, "accounts.updateCompany", { id, name: "Mine" }, { meta }),
      "make a key": (id, meta) => call(app.broker, "accounts.createKey", { id, name: key.name }, { meta }),
      "invite a member": async (id, meta) =>
        call(app.broker, "accounts.addMember", { id, email: (await seed()).email, role: "member" }, { meta }),
      "make oneself owner": (id, meta) =>
        call(app.broker, "accounts.updateMember", { id, user_id: meta.userId!, role: "owner" }, { meta }),
      "save an SMTP configuration": (_, meta) => call(app.broker, "smtp-sender.createConfig", SERVER, { meta }),
      "save a webhook": (_, meta) =>
        call(app.broker, "webhooks.create", { url: "http://127.0.0.1:9/", events: ["opened"] }, { meta }),
    };

    test.each(Object.keys(writes))("%s", async (name) => {
      const tenant = await seed();
      const { user } = await join(tenant, "member");
      const remembered: Caller = { companyId: tenant.id, userId: user.id, role: "owner" };
      expect(await refusal(writes[name]!(tenant.id, remembered))).toEqual(FORBIDDEN);
      await Membership.destroy({ where: { companyId: tenant.id, userId: user.id } });
      expect([FORBIDDEN, NOT_FOUND]).toContainEqual(await refusal(writes[name]!(tenant.id, remembered)));
    });
  });

  test("blocks even a write that began first: it waits for the demotion and sees it", async () => {
    const tenant = await seed();
    const { user } = await join(tenant, "owner");
    const both = await Promise.allSettled([
      call(app.broker, "accounts.updateMember", { id: tenant.id, user_id: user.id, role: "viewer" }, tenant),
      call(
        app.broker,
        "accounts.updateMember",
        { id: tenant.id, user_id: tenant.user.id, role: "viewer" },
        {
          meta: { companyId: tenant.id, userId: user.id, role: "owner" },
        },
      ),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const owners = await Membership.count({ where: { companyId: tenant.id, role: "owner" } });
    expect(owners).toBe(1);
  });

  test("removes the keys that the member created, unless they are to be kept", async () => {
    for (const keep of [false, true]) {
      const { first, second, asFirst, asSecond } = await twoOwners();
      const made = await asSecond.post(`/api/companies/${first.id}/api-keys/`, { name: "Mine" });
      expect(made.body.created_by).toEqual({ id: second.userId, name: second.email });
      const withKey = client(app, { key: made.body.key });
      expect((await withKey.get(`/api/companies/${first.id}/`)).status).toBe(200);
      const query: Record<string, boolean> = keep ? { keep_keys: true } : {};
      expect((await asFirst.delete(memberPath(first, second), { query })).status).toBe(204);
      expect((await withKey.get(`/api/companies/${first.id}/`)).status).toBe(keep ? 200 : 401);
      const { results } = (await asFirst.get(`/api/companies/${first.id}/api-keys/`)).body;
      expect(results.map(({ name }: { name: string }) => name)).toEqual(keep ? ["Mine", "test"] : ["test"]);
    }
  });
});
