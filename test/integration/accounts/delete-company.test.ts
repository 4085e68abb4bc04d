import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne } from "../../../models/database/db.ts";
import { Membership } from "../../../models/membership.ts";
import { call } from "../../../services/call.ts";
import { apiLimiter } from "../../../services/lib/limits/api-limiter.ts";
import { apiCallsToday } from "../../../services/lib/limits/limiter.ts";
import { rowsWith } from "../../support/address-scan.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const E = "/api/emails";
const SLOW_MS = 150;

describe("deleting a company", () => {
  let app: App;
  let server: SmtpServer;
  beforeAll(async () => {
    server = await startSmtpServer({
      answer: ({ verb }) => (verb === "DOT" ? { reply: "250 2.0.0 Ok", delayMs: SLOW_MS } : undefined),
    });
    app = await startApp();
  });
  afterAll(async () => {
    await app.stop();
    await server.stop();
  });

  /** Company with rows in every table that the API writes, and a running campaign. */
  async function furnish(recipients: number): Promise<TestCompany & { media: string; running: string }> {
    const company = await newCompany(app);
    const { api, id, token } = company;
    const made = async (path: string, body: object) => (await api.post(`${E}/${path}/`, body)).body;
    const smtp = await made("smtp-configs", {
      name: "Relay",
      host: "127.0.0.1",
      port: server.port,
      username: "",
      password: "",
      use_tls: false,
      sender_email: "news@sender.example",
      max_connections: 1,
    });
    const list = await made("lists", { name: "Readers" });
    const template = await made("templates", { name: "T", subject: "Hi", body: "<p>Hi</p>" });
    await made("webhook-endpoints", { url: "http://127.0.0.1:9/", events: ["delivered"] });
    await made("suppressions", { domain: "blocked.example" });
    await made("segments", { name: "S", rules: { match: "all", conditions: [] } });
    await made("subscribers/erase", { email: "gone@to.example" });
    const media = (await api.post(`${E}/media/`, fileForm("GIF89a\x09\0\x09\0 and so on", "a.gif"))).body;
    const csv = Array.from({ length: recipients }, (_, n) => `r${n}@to.example`).join("\n");
    await api.post(`${E}/subscribers/bulk/`, fileForm(`email\n${csv}\n`, "a.csv", { list_id: list.id }));
    await client(app, { token }).post(`/api/companies/${id}/members/`, { email: "new@example.com", role: "member" });
    const send = { name: "N", template_id: template.id, smtp_config_id: smtp.id };
    const receivers = [{ email: "one@to.example", cc: ["two@to.example"] }];
    await api.post(`${E}/send/to-receivers/`, { ...send, receivers }, { headers: { "Idempotency-Key": "k" } });
    await made("send/to-list", { ...send, list_id: list.id, scheduled_for: "2099-01-01T00:00:00Z" });
    await api.post(`/api/companies/${id}/sample-data/`, {});
    const running = await made("send/to-list", { ...send, list_id: list.id });
    return { ...company, media: media.url, running: running.id };
  }

  const remove = (who: Client, id: string, password: string) =>
    who.request("DELETE", `/api/companies/${id}/`, { password });
  async function removed(companyId: string): Promise<void> {
    for (const end = Date.now() + 50_000; Date.now() < end; await sleep(100)) {
      await call(app.broker, "accounts.removeCompanies", {});
      if (!(await queryOne("select from companies where id = $1", [companyId]))) return;
    }
    throw new Error("The company is still there");
  }

  test("needs an owner's password; admins and keys cannot do it", async () => {
    const company = await newCompany(app);
    const admin = await newCompany(app);
    await Membership.create({ companyId: company.id, userId: admin.userId, role: "admin" });
    const owner = client(app, { token: company.token, ip: someIp() });
    const answers = [
      await remove(company.api, company.id, company.password),
      await remove(client(app, { token: admin.token }), company.id, admin.password),
      await remove(owner, company.id, "not my password"),
      await remove(owner, admin.id, company.password),
      await owner.request("DELETE", `/api/companies/${company.id}/`, {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 404, 400]);
    expect(answers[2]!.body).toEqual({ detail: "This password is wrong." });
    expect((await company.api.get(`${E}/lists/`)).status).toBe(200);
  });

  test("is protected from guessing: after ten wrong passwords even the right one is refused for a while", async () => {
    const { id, token, password } = await newCompany(app);
    const guesser = client(app, { token, ip: someIp() });
    for (let n = 0; n < 10; n++) expect((await remove(guesser, id, `a guess, number ${n}`)).status).toBe(403);
    const answer = await remove(guesser, id, password);
    expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect((await guesser.get(`/api/companies/${id}/`)).status).toBe(200);
  });

  test("ends all access and sending at once, then removes all rows; its users and other companies stay", async () => {
    const [company, other] = [await furnish(400), await furnish(3)];
    const { id, token, key, email, password, api } = company;
    const colleague = await newCompany(app);
    await Membership.create({ companyId: id, userId: colleague.userId, role: "member" });
    const owner = client(app, { token, ip: someIp() });
    const othersRows = async () => ({ ...(await rowsWith(other.id)), mails: await mailsOf(other.id) });
    const done = async () => (await other.api.get(`${E}/campaigns/${other.running}/`)).body.status;
    for (const end = Date.now() + 50_000; (await done()) !== "completed" && Date.now() < end; ) await sleep(50);
    await server.received(20);
    const numbers = await query<{ no: number }>("select no from campaigns where company_id = $1", [id]);
    const before = await othersRows();
    expect(Object.keys(await rowsWith(id)).length).toBeGreaterThan(20);

    const deleted = await remove(owner, id, password);
    expect([deleted.status, deleted.body]).toEqual([202, { detail: expect.any(String) }]);
    const since = Date.now();
    expect((await client(app, { key }).get(`${E}/lists/`)).status).toBe(401);
    expect((await owner.get(`/api/companies/${id}/`)).status).toBe(404);
    expect((await client(app, { token: colleague.token }).get(`/api/companies/${id}/`)).status).toBe(404);
    const form = await client(app, { ip: someIp() }).post(`${E}/public/subscribe/${id}/`, { email: "x@to.example" });
    expect(form.status).toBe(404);

    await removed(id);
    expect(await rowsWith(id)).toEqual({});
    const left = await query("select from sent_emails where campaign_no = any ($1::int[])", [
      numbers.map(({ no }) => no),
    ]);
    expect(left).toEqual([]);
    expect(await query("select from media_parts where media_id not in (select id from media)")).toEqual([]);
    expect((await client(app).get(company.media)).status).toBe(404);
    const late = server.messages.filter(({ at, to }) => at > since + 2_000 + SLOW_MS && to[0]!.startsWith("r"));
    expect(late).toEqual([]);
    expect(server.messages.length).toBeLessThan(400);
    expect(await apiLimiter().used(apiCallsToday({ companyId: id }))).toMatchObject({ used: 0 });

    expect(await othersRows()).toEqual(before);
    expect((await other.api.get(`${E}/lists/`)).status).toBe(200);
    expect((await client(app).get(other.media)).status).toBe(200);
    const login = await client(app, { ip: someIp() }).post("/api/auth/login/", { email, password });
    expect(login.status).toBe(200);
    const me = await client(app, { token: login.body.access }).get("/api/auth/me/");
    expect(me.body).toMatchObject({ user: { email }, companies: [] });
    expect((await api.get(`${E}/lists/`)).status).toBe(401);
  });

  const mailsOf = async (companyId: string) =>
    (await queryOne<{ n: number }>(
      "select count(*)::int as n from campaigns c join sent_emails e on e.campaign_no = c.no where c.company_id = $1",
      [companyId],
    ))!.n;
});
