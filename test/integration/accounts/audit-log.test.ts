import { setTimeout as sleep } from "node:timers/promises";
import { query, transaction } from "../../../models/database/db.ts";
import { Membership } from "../../../models/membership.ts";
import { call } from "../../../services/call.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, newCompany, someIp, type TestCompany } from "../../support/client.ts";

const RELAY = {
  name: "Relay",
  host: "127.0.0.1",
  port: 9,
  username: "me",
  password: "the secret of the relay",
  use_tls: false,
  sender_email: "news@example.com",
};

describe("the audit log", () => {
  let app: App;
  let company: TestCompany;
  let owner: Client;
  const ip = someIp();
  beforeAll(async () => {
    app = await startApp();
    company = await newCompany(app);
    owner = client(app, { token: company.token, ip });
  });
  afterAll(() => app.stop());

  const path = (rest: string) => `/api/companies/${company.id}/${rest}`;
  const log = async (filters: Record<string, string> = {}) =>
    (await owner.get(path("audit-log/"), { query: { page_size: 100, ...filters } })).body.results as Entry[];
  interface Entry {
    id: string;
    at: string;
    actor: { type: string; id: string | null; name: string };
    action: string;
    target: string | null;
    ip: string | null;
    detail: Record<string, unknown>;
  }

  test("has an entry for each change with actor, address and object, and no secrets", async () => {
    const { id: companyId, email, password, userId, api } = company;
    await client(app, { ip }).post("/api/auth/login/", { email, password: "wrong horse battery" });
    // Failures are written after the response, so that its timing reveals nothing.
    for (const end = Date.now() + 50_000; Date.now() < end && (await log()).length < 2; ) await sleep(20);
    await client(app, { ip }).post("/api/auth/login/", { email, password });
    const key = (await owner.post(path("api-keys/"), { name: "Shop", scopes: ["send"] })).body;
    await owner.delete(path(`api-keys/${key.id}/`));
    const other = await newCompany(app);
    await Membership.create({ companyId, userId: other.userId, role: "member" });
    await owner.patch(path(`members/${other.userId}/`), { role: "viewer" });
    await owner.delete(path(`members/${other.userId}/`));
    await owner.post(path("members/"), { email: "new@example.com", role: "member" });
    await owner.patch(path(""), { website: "https://example.com" });
    const smtp = (await api.post("/api/emails/smtp-configs/", RELAY)).body.id;
    await api.patch(`/api/emails/smtp-configs/${smtp}/`, { host: "localhost", password: RELAY.password });
    const hook = { url: "http://127.0.0.1:9/", events: ["opened"] };
    const webhook = (await api.post("/api/emails/webhook-endpoints/", hook)).body.id;
    await api.post(`/api/emails/webhook-endpoints/${webhook}/rotate-secret/`);
    await api.delete(`/api/emails/webhook-endpoints/${webhook}/`);
    const list = (await api.post("/api/emails/lists/", { name: "Readers" })).body.id;
    await api.delete(`/api/emails/lists/${list}/`);
    await api.get("/api/emails/subscribers/export/");
    const mail = { name: "Receipt", subject: "Thanks", body: "<p>Thanks</p>", receivers: [{ email: "a@example.com" }] };
    const sent = (await api.post("/api/emails/send/custom/", { ...mail, smtp_config_id: smtp })).body.id;
    await api.delete(`/api/emails/smtp-configs/${smtp}/`);

    const entries = (await log()).toReversed();
    expect(entries.map(({ action }) => action)).toEqual([
      "api_key.created",
      "auth.login_failed",
      "auth.login",
      "api_key.created",
      "api_key.deleted",
      "member.role_changed",
      "member.removed",
      "member.invited",
      "company.updated",
      "smtp_config.created",
      "smtp_config.updated",
      "webhook.created",
      "webhook.secret_rotated",
      "webhook.deleted",
      "list.deleted",
      "subscribers.exported",
      "campaign.sent",
      "smtp_config.deleted",
    ]);
    const of = (action: string) => entries.findLast((entry) => entry.action === action);
    expect(of("api_key.created")).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      actor: { type: "user", id: userId, name: email },
      action: "api_key.created",
      target: key.id,
      ip,
      detail: { name: "Shop", scopes: ["send"], allowed_ips: [] },
    });
    expect(of("member.role_changed")!.detail).toEqual({ email: other.email, from: "member", to: "viewer" });
    expect(of("smtp_config.updated")).toMatchObject({
      actor: { type: "api_key", name: "test" },
      detail: { fields: ["host", "password"], host: { from: "127.0.0.1", to: "localhost" } },
    });
    expect(of("campaign.sent")).toMatchObject({ target: sent, detail: { name: "Receipt", recipients: 1 } });
    const text = JSON.stringify(entries);
    for (const secret of [RELAY.password, key.key, password]) expect(text).not.toContain(secret);
  });

  test("is filtered by actor, action and time", async () => {
    const all = await log();
    expect(new Set((await log({ action: "webhook.created" })).map(({ action }) => action))).toEqual(
      new Set(["webhook.created"]),
    );
    const byKey = await log({ actor: "test" });
    expect(byKey.length).toBeGreaterThan(3);
    expect(byKey.every(({ actor }) => actor.type === "api_key")).toBe(true);
    expect((await log({ actor: company.email.toUpperCase() })).length + byKey.length).toBe(all.length);
    expect(await log({ actor: company.userId })).toEqual(await log({ actor: company.email }));
    const middle = all[4]!.at;
    expect((await log({ since: middle })).length + (await log({ until: middle })).length).toBe(all.length);
  });

  test("is visible to owners and admins in person only; another company's is missing", async () => {
    const [member, admin] = [await newCompany(app), await newCompany(app)];
    await Membership.create({ companyId: company.id, userId: member.userId, role: "member" });
    await Membership.create({ companyId: company.id, userId: admin.userId, role: "admin" });
    const seen = async (by: Client) => (await by.get(path("audit-log/"))).status;
    expect(await seen(client(app, { token: admin.token }))).toBe(200);
    expect(await seen(client(app, { token: member.token }))).toBe(403);
    expect(await seen(company.api)).toBe(403);
    const stranger = await newCompany(app);
    expect(await seen(client(app, { token: stranger.token }))).toBe(404);
  });

  test("is append-only: the database refuses changes, deletions and truncation", async () => {
    const before = await log();
    const wrong = /The audit log is append-only/;
    await expect(query("update audit_log set actor_name = 'nobody'")).rejects.toThrow(wrong);
    await expect(query("delete from audit_log where company_id = $1", [company.id])).rejects.toThrow(wrong);
    await expect(query("truncate audit_log")).rejects.toThrow(wrong);
    expect(await log()).toEqual(before);
  });

  test("is deleted after AUDIT_LOG_DAYS; the database refuses to delete entries younger than 30 days", async () => {
    const entry =
      "insert into audit_log (id, company_id, actor_type, actor_name, action, at) values (uuid_v7(), $1, 'system', 'system', $2, now() - make_interval(days => $3))";
    await query(entry, [company.id, "list.deleted", 731]);
    await query(entry, [company.id, "segment.deleted", 729]);
    const before = await log();
    await call(app.broker, "accounts.purge", {});
    const left = await log();
    expect(before.length - left.length).toBe(1);
    expect(left.some(({ action }) => action === "segment.deleted")).toBe(true);
    const said = (setting: string, sql: string) =>
      transaction(async (on) => {
        await on.query("select set_config('flockmail.audit_log', $1, true)", [setting]);
        await on.query(sql, [company.id]);
      });
    const wrong = /The audit log is append-only/;
    await expect(said("expire", "delete from audit_log where company_id = $1")).rejects.toThrow(wrong);
    const erase = "update audit_log set actor_name = 'nobody' where company_id = $1";
    await expect(said("erase", erase)).rejects.toThrow(wrong);
    expect(await log()).toEqual(left);
  });

  test("has no entry for a refused write", async () => {
    const before = (await log()).length;
    expect((await owner.delete(path(`api-keys/${company.userId}/`))).status).toBe(404);
    expect((await owner.delete(path(`members/${company.userId}/`))).status).toBe(400);
    expect((await company.api.post("/api/emails/smtp-configs/", { ...RELAY, host: "" })).status).toBe(400);
    expect((await log()).length).toBe(before);
  });
});
