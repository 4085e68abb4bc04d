/** Retention deletes old data and keeps counts. Messages go through all services to a real SMTP server. */
import { query, queryOne } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { firstIdAt, newId } from "../../../services/lib/ids.ts";
import { keysFor } from "../../../services/lib/secrets.ts";
import { LinkTokens } from "../../../services/lib/tokens/link-token.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { FIREFOX } from "../tracking/world.ts";
import { until } from "./world.ts";

const API = "/api/emails";

let app: App;
let server: SmtpServer;
let company: TestCompany;
let other: TestCompany;
const smtp = new Map<TestCompany, string>();

beforeAll(async () => {
  server = await startSmtpServer();
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
  await server.stop();
});
beforeEach(async () => {
  [company, other] = [await newCompany(app), await newCompany(app)];
  for (const { api } of [company, other]) {
    const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
    const made = await api.post(`${API}/smtp-configs/`, { ...config, sender_email: "news@acme.example" });
    smtp.set(api === company.api ? company : other, made.body.id);
  }
});

const removeOld = () => app.broker.call("campaigns.removeOld");
const settings = (days: object | null, of = company) =>
  of.api.patch(`/api/companies/${of.id}/`, { retention_days: days });
const read = async (id: string, of = company) => (await of.api.get(`${API}/campaigns/${id}/`)).body;
const analytics = async (id: string) => (await company.api.get(`${API}/campaigns/${id}/analytics/`)).body;
const listed = async (path: string, query: Record<string, string> = {}, of = company) =>
  (await of.api.get(`${API}/${path}/`, { query })).body;

/** Sends to three people, each of whom opens it. */
async function campaign(of = company): Promise<string> {
  const { body } = await of.api.post(`${API}/send/custom/`, {
    name: "News",
    smtp_config_id: smtp.get(of),
    subject: "Hello",
    body: "<p>Hello</p>",
    receivers: ["ann", "bob", "cat"].map((name) => ({ email: `${name}@example.com` })),
  });
  await until(
    () => read(body.id, of),
    ({ status }) => status === "completed",
  );
  // Age the delivery: an open right after it would count as a machine's.
  await query(
    "update sent_emails set sent_at = now() - interval '1 hour' where campaign_no = (select no from campaigns where id = $1)",
    [body.id],
  );
  const browser = client(app, { ip: someIp(), headers: { "user-agent": FIREFOX } });
  for (const { id } of (await listed("sent-emails", { campaign: body.id }, of)).results) {
    await browser.get(`${API}/public/open/${new LinkTokens(keysFor("link")[0]!, id).text(0)}.gif`);
  }
  return body.id;
}

const daysAgo = (days: number) => Date.now() - days * 24 * 3_600_000;
const age = (id: string, days: number) =>
  query("update campaigns set updated_at = to_timestamp($2 / 1000.0) where id = $1", [id, daysAgo(days)]);
/** Ages events including their ids, which contain the time. */
async function ageEvents(campaignId: string, days: number): Promise<void> {
  const [at, id] = [daysAgo(days), firstIdAt(daysAgo(days)).slice(0, 13)];
  const aged = "overlay(id::text placing $3 from 1 for 13)::uuid";
  await query(`update email_events set created_at = to_timestamp($2 / 1000.0), id = ${aged} where campaign_id = $1`, [
    campaignId,
    at,
    id,
  ]);
  await query("select add_hit_part($1::date)", [`${new Date(at).toISOString().slice(0, 7)}-01`]);
  await query("update campaigns set created_at = to_timestamp($2 / 1000.0 - 86400) where id = $1", [campaignId, at]);
  await query(
    `update hits set id = ${aged} where campaign_no = (select no from campaigns where id = $1) and $2::float8 > 0`,
    [campaignId, at, id],
  );
}

test("days are integers from 1, for sent emails from 60; a change is merged, and null resets it", async () => {
  expect((await settings({ events: 30, inbound: 10 })).body.retention_days).toEqual({
    events: 30,
    sent_emails: null,
    inbound: 10,
  });
  expect((await settings({ sent_emails: 60, inbound: null })).body.retention_days).toEqual({
    events: 30,
    sent_emails: 60,
    inbound: null,
  });
  for (const wrong of [{ sent_emails: 59 }, { events: 0 }, { events: 1.5 }, { inbound: "x" }]) {
    expect((await settings(wrong)).status).toBe(400);
  }
  expect((await settings(null)).body.retention_days).toEqual({ events: null, sent_emails: null, inbound: null });
});

test("events are deleted by age for the company that set it; campaign counts stay", async () => {
  const [old, young, others] = [await campaign(), await campaign(), await campaign(other)];
  await ageEvents(old, 31);
  await ageEvents(young, 29);
  await ageEvents(others, 31);
  const before = await analytics(old);
  expect(before).toMatchObject({ opens: { unique: 3 } });
  await removeOld();
  expect((await listed("events")).count).toBe(6);
  await settings({ events: 30 });
  await removeOld();
  expect((await listed("events")).count).toBe(3);
  expect((await listed("events", { campaign: young })).count).toBe(3);
  expect((await listed("events", {}, other)).count).toBe(3);
  expect(await analytics(old)).toEqual(before);
});

test("inbound messages are deleted by age, with their originals", async () => {
  const came = (days: number, of: TestCompany) =>
    query(
      `with raw as (insert into inbound_raws (id, company_id, raw) values ($1, $2, 'x') returning id)
       insert into inbound_messages (id, company_id, via, result, received_at, raw_id)
       select id, $2, 'smtp', 'ignored', to_timestamp($3 / 1000.0), id from raw`,
      [firstIdAt(daysAgo(days)).replace(/0{4}-0{12}$/, newId().slice(19)), of.id, daysAgo(days)],
    );
  for (const owner of [company, other]) {
    for (const days of [3, 8]) await came(days, owner);
  }
  await settings({ inbound: 7 });
  await removeOld();
  expect((await listed("inbound")).count).toBe(1);
  expect((await listed("inbound", {}, other)).count).toBe(2);
  expect(await query("select from inbound_raws where company_id = $1", [company.id])).toHaveLength(1);
});

test("recipients of finished campaigns are deleted with their links; the next run completes an interrupted one", async () => {
  const [old, young, others] = [await campaign(), await campaign(), await campaign(other)];
  for (const id of [old, others]) await age(id, 61);
  await age(young, 59);
  const [mail] = (await listed("sent-emails", { campaign: old })).results;
  const before = await analytics(old);
  await settings({ sent_emails: 60 });
  await query("update campaigns set recipients_state = 'removing' where id = $1", [old]);
  expect((await listed("sent-emails", { campaign: old })).count).toBe(0);
  expect((await listed("sent-emails", { campaign: old })).results).toEqual([]);
  await removeOld();
  expect(
    await query("select from campaigns c join sent_emails e on e.campaign_no = c.no where c.id = $1", [old]),
  ).toEqual([]);
  expect((await listed("sent-emails")).count).toBe(3);
  expect((await listed("sent-emails", {}, other)).count).toBe(3);
  expect([await analytics(old), (await read(old)).sent_count]).toEqual([before, 3]);
  expect((await client(app, { ip: someIp() }).get(`${API}/public/view/${mail.id}/`)).status).toBe(404);
  await query("update campaigns set status = 'partial' where id = $1", [old]);
  const resumed = await company.api.post(`${API}/campaigns/${old}/resume/`, {});
  expect([resumed.status, JSON.stringify(resumed.body)]).toEqual([400, expect.stringMatching(/no longer kept/)]);
});

test("a month's table is dropped when it has nothing to keep, and the next campaign uses another", async () => {
  const part = (await queryOne<{ no: number }>("select max(no) >> 20 as no from campaigns "))!.no;
  const table = async () =>
    (await queryOne<{ name: string | null }>("select to_regclass('sent_emails_' || $1::int)::text as name", [part]))!
      .name;
  await query("update recipient_parts set month = month - interval '1 month' where no = $1", [part]);
  await query("select prepare_recipient_parts()");
  const late = await campaign(other);
  await query("update campaigns set updated_at = now() - interval '61 days' where id <> $1", [late]);
  await query("update companies set retention_days = '{\"sent_emails\": 60}', retention_done_at = null");
  // State of a run that was interrupted while the table was being detached.
  await call(app.broker, "campaigns.removeOld", {});
  expect(await table()).toBeNull();
  expect(await query("select from recipient_parts where no = $1", [part])).toEqual([]);
  expect((await listed("sent-emails", { campaign: late }, other)).count).toBe(3);
  await campaign(other);
});

describe("a deleted campaign", () => {
  const remove = (id: string, of = company) => of.api.delete(`${API}/campaigns/${id}/`);
  const rowsOf = (table: string, id: string) => query(`select from ${table} where campaign_id = $1`, [id]);

  test("is hidden at once with its messages and events, which are removed in the background; others' stay", async () => {
    const [id, kept] = [await campaign(), await campaign()];
    expect((await remove(id, other)).status).toBe(404);
    expect(await remove(id)).toMatchObject({ status: 204 });
    const isHidden = async () => {
      for (const path of ["", "analytics/", "export/"]) {
        expect((await company.api.get(`${API}/campaigns/${id}/${path}`)).status).toBe(404);
      }
      for (const path of ["resume/", "stop/", "cancel/"]) {
        expect((await company.api.post(`${API}/campaigns/${id}/${path}`, {})).status).toBe(404);
      }
      expect((await company.api.patch(`${API}/campaigns/${id}/`, { name: "Back" })).status).toBe(404);
      expect((await remove(id)).status).toBe(404);
      expect(await listed("campaigns")).toMatchObject({ count: 1, results: [{ id: kept }] });
      for (const list of ["sent-emails", "events"]) {
        const all = await listed(list);
        expect([all.count, all.results.length]).toEqual([3, 3]);
        expect(all.results.every(({ campaign_id }: { campaign_id: string }) => campaign_id === kept)).toBe(true);
        expect(await listed(list, { campaign: id })).toMatchObject({ count: 0, results: [] });
      }
      expect((await listed("events", { type: "opened" })).count).toBe(3);
    };
    await isHidden();
    await removeOld();
    await isHidden();
    for (const table of ["email_events", "campaign_counts", "campaign_receivers"]) {
      expect(await rowsOf(table, id)).toHaveLength(0);
    }
    expect(
      await query(
        `select from sent_emails e join campaigns c on c.no = e.campaign_no
         where c.id = $1 and (e.variables is not null or e.smtp_response is not null or e.error is not null)`,
        [id],
      ),
    ).toHaveLength(0);
  });

  test("hides no other events if it never began, and is removed completely", async () => {
    await campaign();
    const template = (await company.api.post(`${API}/templates/`, { name: "T", subject: "S", body: "B" })).body.id;
    const { body } = await company.api.post(`${API}/send/to-receivers/`, {
      name: "Never",
      smtp_config_id: smtp.get(company),
      template_id: template,
      scheduled_for: "2099-01-01T00:00:00Z",
      receivers: [{ email: "dan@example.com" }],
    });
    expect(body).toMatchObject({ status: "scheduled" });
    expect(await company.api.post(`${API}/campaigns/${body.id}/cancel/`, {})).toMatchObject({ status: 200 });
    expect((await remove(body.id)).status).toBe(204);
    expect((await listed("events")).results).toHaveLength(3);
    await age(body.id, 61);
    await settings({ sent_emails: 60 });
    await removeOld();
    expect(await query("select from campaigns where id = $1", [body.id])).toHaveLength(0);
    expect(await listed("events")).toMatchObject({ count: 3 });
  });

  test("keeps unsubscribe links working until its recipients are removed, and is then removed completely", async () => {
    const id = await campaign();
    const [mail, second] = (await listed("sent-emails", { campaign: id })).results;
    await remove(id);
    await removeOld();
    const person = client(app, { ip: someIp() });
    expect((await person.get(`${API}/public/view/${mail.id}/`)).status).toBe(404);
    const unsubscribe = (of: { id: string }) =>
      person.post(`${API}/public/unsubscribe/${of.id}/`, { "List-Unsubscribe": "One-Click" });
    expect((await unsubscribe(mail)).status).toBe(200);
    expect((await listed("suppressions")).results).toMatchObject([{ email: mail.recipient, kind: "unsubscribed" }]);
    expect(await listed("events")).toMatchObject({
      count: 1,
      results: [{ type: "unsubscribed", recipient: mail.recipient, campaign_id: null, sent_email_id: null }],
    });
    // A person's open is no longer counted anywhere visible.
    const browser = client(app, { ip: someIp(), headers: { "user-agent": FIREFOX } });
    const open = `${API}/public/open/${new LinkTokens(keysFor("link")[0]!, second.id).text(0)}.gif`;
    expect((await browser.get(open)).status).toBe(200);
    expect((await listed("events")).count).toBe(1);

    await settings({ sent_emails: 60 });
    await age(id, 59);
    await removeOld();
    expect((await unsubscribe(second)).status).toBe(200);
    expect((await listed("suppressions")).count).toBe(2);
    await age(id, 61);
    await settings({ sent_emails: 60, events: 400 });
    await removeOld();
    expect(await query("select from campaigns where id = $1", [id])).toHaveLength(0);
    for (const table of ["email_events", "campaign_counts", "campaign_contents", "send_chunks"]) {
      expect(await rowsOf(table, id)).toHaveLength(0);
    }
    expect((await listed("events")).count).toBe(2);
  });

  test.each(["scheduled", "pending", "sending"])("is refused while %s", async (status) => {
    const id = await campaign();
    await query(
      `update campaigns set status = $2, scheduled_for = now() + interval '1 day', expanded_at = now(), total_emails = 9
       where id = $1`,
      [id, status],
    );
    const refused = await remove(id);
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining(status) } });
    expect((await read(id)).id).toBe(id);
  });
});
