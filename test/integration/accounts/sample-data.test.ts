/** Sample data: its contents, its exclusion from counts and sends, and its complete removal. */
import { setTimeout as sleep } from "node:timers/promises";
import { query } from "../../../models/database/db.ts";
import { SAMPLE_PEOPLE } from "../../../models/statements/sample-people.ts";
import { call } from "../../../services/call.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, type TestCompany } from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const E = "/api/emails";
const ALL = SAMPLE_PEOPLE.length;

/** Tables whose rows remain when sample data is removed: totals and the audit log. */
const REMAINING_TABLES = ["counters", "company_days", "audit_log"];

describe("sample data", () => {
  let app: App;
  let company: TestCompany;
  let path: string;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    company = await newCompany(app);
    path = `/api/companies/${company.id}/sample-data/`;
  });

  const get = async (of: string) => (await company.api.get(`${E}/${of}`)).body;
  const count = async (of: string): Promise<number> => (await get(`${of}/`)).count;
  const add = async () => (await company.api.post(path, {})).body;

  /**
   * Number of the company's rows by table, without the tables of recipients and hits, which have no company_id but the
   * campaign's number.
   */
  async function rowsOf(companyId: string): Promise<Record<string, number>> {
    const tables = await query<{ name: string }>(
      "select table_name as name from information_schema.columns where column_name = 'company_id' and table_schema = 'public'",
    );
    const kept = tables.map(({ name }) => name).filter((name) => !REMAINING_TABLES.includes(name));
    const each = kept.map((name) => `select '${name}' as name, count(*)::int as n from ${name} where company_id = $1`);
    const rows = await query<{ name: string; n: number }>(each.join(" union all "), [companyId]);
    return Object.fromEntries(rows.filter(({ n }) => n > 0).map(({ name, n }) => [name, n]));
  }

  test("consists of people, a list, a template and a finished report by hour", async () => {
    const sample = await add();
    expect(sample).toMatchObject({ subscribers: ALL, created_at: expect.any(String) });
    expect(await get(`lists/${sample.list_id}/`)).toMatchObject({ name: "Sample readers", subscriber_count: ALL });
    expect(await get(`templates/${sample.template_id}/`)).toMatchObject({ name: "Sample letter" });
    expect(await get(`campaigns/${sample.campaign_id}/`)).toMatchObject({ total_emails: ALL, sent_count: ALL - 1 });
    const report = await get(`campaigns/${sample.campaign_id}/analytics/`);
    expect(report).toMatchObject({ delivered: ALL - 2, bounced: 2, unsubscribed: 1, complaints: 0 });
    expect(report.opens).toEqual({ total: 24, unique: 24, machine: 6 });
    expect(report.clicks).toMatchObject({ total: 8, unique: 8 });
    expect(report.timeline.length).toBeGreaterThan(5);
    expect(report.links.map(({ total }: { total: number }) => total)).toEqual([3, 3, 2]);
    expect((await get(`stats/domains/?campaign=${sample.campaign_id}`)).length).toBe(3);
    expect(await count("sent-emails")).toBe(ALL);
  });

  test("does not count towards plan limits or in the statistics of real mail", async () => {
    const { sending, growth } = await get("stats/");
    await add();
    const { usage } = (await company.api.get(`/api/companies/${company.id}/plan/`)).body;
    expect(usage).toMatchObject({ subscribers: 0, emails_per_month: 0, smtp_per_hour: 0 });
    expect(await get("stats/")).toMatchObject({ sending, growth });
    expect(await get("stats/domains/")).toEqual([]);
    // The plan refuses a person only when it is full of real people.
    await query("insert into plans (name, subscribers) values ('two', 2)");
    await call(app.broker, "accounts.setPlan", { company_id: company.id, plan: "two" });
    const emails = ["a@example.com", "b@example.com", "c@example.com"];
    const statuses = [];
    for (const email of emails) statuses.push((await company.api.post(`${E}/subscribers/`, { email })).status);
    expect(statuses).toEqual([201, 201, 403]);
  });

  test("is never mailed, even after a request to lift its suppression", async () => {
    const server: SmtpServer = await startSmtpServer();
    try {
      const { list_id, template_id } = await add();
      const suppressions = (await get("suppressions/")).results;
      const lifted = await company.api.request("DELETE", `${E}/suppressions/${suppressions[0].id}/`);
      expect([suppressions.length, lifted.status]).toEqual([1, 400]);
      const smtp = { name: "Relay", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
      const { id } = (await company.api.post(`${E}/smtp-configs/`, { ...smtp, sender_email: "a@sender.example" })).body;
      const send = { name: "N", template_id, smtp_config_id: id, list_id };
      const sent = await company.api.post(`${E}/send/to-list/`, send);
      expect(sent.status).toBe(201);
      let campaign = sent.body;
      for (const end = Date.now() + 20_000; campaign.finished_at === null && Date.now() < end; await sleep(50)) {
        campaign = await get(`campaigns/${sent.body.id}/`);
      }
      expect([campaign.status, campaign.sent_count, server.messages.length]).toEqual(["completed", 0, 0]);
    } finally {
      await server.stop();
    }
  });

  test("is not changed by a second request, and its removal deletes all of it and nothing else", async () => {
    await company.api.post(`${E}/lists/`, { name: "Own" });
    await company.api.post(`${E}/subscribers/`, { email: "own@example.com" });
    const before = await rowsOf(company.id);
    const numbers = [await get("stats/"), await count("campaigns"), await count("events"), await count("sent-emails")];
    const sample = await add();
    const made = await rowsOf(company.id);
    expect(await add()).toEqual(sample);
    expect(await rowsOf(company.id)).toEqual(made);
    expect((await company.api.request("DELETE", path)).status).toBe(204);
    expect(await rowsOf(company.id)).toEqual(before);
    expect([await get("stats/"), await count("campaigns"), await count("events"), await count("sent-emails")]).toEqual(
      numbers,
    );
    expect((await company.api.request("DELETE", path)).status).toBe(204);
    const log = await client(app, { token: company.token }).get(`/api/companies/${company.id}/audit-log/`);
    const actions = log.body.results.map(({ action }: { action: string }) => action);
    expect(actions.filter((action: string) => action.startsWith("sample_data."))).toEqual([
      "sample_data.removed",
      "sample_data.added",
    ]);
    expect((await add()).subscribers).toBe(ALL);
  });

  test("that was combined with real data stays on removal: a list with other people, a changed template", async () => {
    const sample = await add();
    await company.api.post(`${E}/subscribers/`, { email: "own@example.com", lists: [sample.list_id] });
    await company.api.request("PATCH", `${E}/templates/${sample.template_id}/`, { subject: "My own" });
    await company.api.request("DELETE", path);
    expect(await get(`lists/${sample.list_id}/`)).toMatchObject({ subscriber_count: 1 });
    expect(await get(`templates/${sample.template_id}/`)).toMatchObject({ subject: "My own" });
  });
});
