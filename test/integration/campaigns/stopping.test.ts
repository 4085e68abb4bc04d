/** Stop and resume during sending with a slow mail server; messages are counted at the server. */
import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, type TestCompany } from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "./world.ts";

const API = "/api/emails";
const RECEIVERS = 200;
const ANSWER_MS = 400;

let app: App;
let slow: SmtpServer;
let isSlow: boolean;
let dead: SmtpServer | undefined;
let company: TestCompany;
beforeAll(async () => {
  slow = await startSmtpServer({
    answer: ({ verb }) => (verb === "DOT" && isSlow ? { reply: "250 2.0.0 Ok", delayMs: ANSWER_MS } : undefined),
  });
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
  await slow.stop();
  await dead?.stop();
});
beforeEach(async () => {
  company = await newCompany(app);
  slow.messages.length = 0;
  isSlow = true;
});

const read = async (id: string) => (await company.api.get(`${API}/campaigns/${id}/`)).body;
interface Seen {
  status: string;
  sent_count: number;
  failed_count: number;
}
const isOver = ({ status }: Seen) => status !== "pending" && status !== "sending";
const stop = (id: string, of = company) => of.api.post(`${API}/campaigns/${id}/stop/`, {});

/** Nothing listens on port 9, so the campaign waits. */
async function campaign(port: number): Promise<string> {
  const { api } = company;
  const config = { name: "S", host: "127.0.0.1", port, username: "", password: "", use_tls: false, max_connections: 4 };
  const smtp = (await api.post(`${API}/smtp-configs/`, { ...config, sender_email: "news@acme.example" })).body.id;
  const sent = await api.post(`${API}/send/custom/`, {
    name: "News",
    smtp_config_id: smtp,
    subject: "Hello",
    body: "<p>Hello</p>",
    receivers: Array.from({ length: RECEIVERS }, (_, n) => ({ email: `u${n}@example.com` })),
  });
  expect(sent.status).toBe(201);
  return sent.body.id;
}

test("a campaign that is stopped ends within seconds with every recipient accounted for; resume sends the rest once", async () => {
  const id = await campaign(slow.port);
  await until(
    () => read(id),
    ({ sent_count }) => sent_count > 4,
  );
  const stopped = await stop(id);
  const at = Date.now();
  expect(stopped).toMatchObject({ status: 200, body: { error: 'Stopped by the API key "test".' } });
  const ended = await until(() => read(id), isOver);
  // The last message must begin within two seconds and takes one answer; the rest allows for machine load.
  expect(Date.now() - at).toBeLessThan(10_000);
  const { sent_count, failed_count } = ended;
  expect(ended).toMatchObject({ status: "partial", total_emails: RECEIVERS });
  expect([sent_count, sent_count + failed_count]).toEqual([slow.messages.length, RECEIVERS]);
  expect(failed_count).toBeGreaterThan(0);
  const failed = (await company.api.get(`${API}/sent-emails/`, { query: { campaign: id, status: "failed" } })).body;
  expect(failed.results[0].error).toBe('Stopped by the API key "test".');

  isSlow = false;
  const resumed = await company.api.post(`${API}/campaigns/${id}/resume/`, {});
  expect(resumed).toMatchObject({ status: 200, body: { status: "pending", error: null } });
  expect(await until(() => read(id), isOver)).toMatchObject({
    status: "completed",
    sent_count: RECEIVERS,
    error: null,
  });
  expect(new Set(slow.messages.map(({ to }) => to.join())).size).toBe(RECEIVERS);
  expect(slow.messages).toHaveLength(RECEIVERS);
});

test("a campaign without a sent message is cancelled", async () => {
  const id = await campaign(9);
  expect((await stop(id)).status).toBe(200);
  expect(await until(() => read(id), isOver)).toMatchObject({
    status: "cancelled",
    sent_count: 0,
    failed_count: RECEIVERS,
  });
  expect((await company.api.post(`${API}/campaigns/${id}/resume/`, {})).status).toBe(400);
});

test("a campaign with a message in doubt can be resumed", async () => {
  const id = await campaign(9);
  await until(
    () => query("select from campaigns where id = $1 and expanded_at is not null", [id]),
    ({ length }) => length === 1,
  );
  await query("update companies set sending_paused_at = now() where id = $1", [company.id]);
  await query(
    `with unknown as (update sent_emails set status = 6, next_attempt_at = null
       where campaign_no = (select no from campaigns where id = $1) and seq = 1)
     update campaigns set failed_count = 1 where id = $1`,
    [id],
  );
  expect((await stop(id)).status).toBe(200);
  expect(await until(() => read(id), isOver)).toMatchObject({ status: "partial", failed_count: RECEIVERS });
  expect((await company.api.post(`${API}/campaigns/${id}/resume/`, {})).status).toBe(200);
  await stop(id);
  await until(() => read(id), isOver);
});

test("a stop in any other state is 400 that names the state; another company's campaign is 404; the log names the person", async () => {
  const id = await campaign(9);
  const stranger = await newCompany(app);
  expect((await stop(id, stranger)).status).toBe(404);
  await stop(id);
  await until(() => read(id), isOver);
  expect(await stop(id)).toMatchObject({ status: 400, body: { detail: expect.stringContaining("cancelled") } });
  const log = await client(app, { token: company.token }).get(`/api/companies/${company.id}/audit-log/`, {
    query: { action: "campaign.stopped" },
  });
  expect(log.body.results).toMatchObject([{ target: id, actor: { type: "api_key", name: "test" } }]);
  expect((await company.api.post(`${API}/campaigns/${id}/cancel/`, {})).status).toBe(400);
});

test("operators stop a campaign by its id alone", async () => {
  const id = await campaign(9);
  await app.broker.call("campaigns.stopAny", { campaign_id: id });
  expect(await until(() => read(id), isOver)).toMatchObject({ status: "cancelled", error: "Stopped by the operator." });
});

test("the bounce guard stops a campaign as a person would: partial, with a webhook, and resumable", async () => {
  dead = await startSmtpServer({
    delayMs: { DOT: ANSWER_MS },
    answer: ({ verb, to }) =>
      verb === "RCPT" && /^u\d*[02468]@/.test(to) ? { reply: "550 5.1.1 User unknown", delayMs: 200 } : undefined,
  });
  const guard = { guard: { after: 20, hard_bounce_percent: 30 } };
  expect((await company.api.patch(`/api/companies/${company.id}/`, guard)).status).toBe(200);
  const hook = { url: "http://127.0.0.1:9/hook", events: ["campaign.completed"] };
  expect((await company.api.post(`${API}/webhook-endpoints/`, hook)).status).toBe(201);
  const id = await campaign(dead.port);
  const ended = await until(() => read(id), isOver);
  expect(ended).toMatchObject({
    status: "partial",
    total_emails: RECEIVERS,
    error: expect.stringMatching(/^Stopped by the guard: \d+ of \d+ mails bounced for good/),
  });
  expect(ended.sent_count + ended.failed_count).toBe(RECEIVERS);
  expect(ended.sent_count).toBe(dead.messages.length);
  const notified = await query<{ payload: object }>("select payload from webhook_deliveries where company_id = $1", [
    company.id,
  ]);
  expect(notified).toMatchObject([{ payload: { campaign_id: id, metadata: { status: "partial" } } }]);
  const log = await client(app, { token: company.token }).get(`/api/companies/${company.id}/audit-log/`, {
    query: { action: "campaign.stopped" },
  });
  expect(log.body.results).toMatchObject([
    { target: id, actor: { type: "system", name: "system" }, detail: { by: "guard", complaints: 0 } },
  ]);
  expect(await company.api.post(`${API}/campaigns/${id}/resume/`, {})).toMatchObject({
    status: 200,
    body: { status: "pending", error: null },
  });
});
