/** A date without a time is a whole day in the company's time zone, in every field and count. */
import { query, queryOne } from "../../../models/database/db.ts";
import { newIdAt } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { campaign, sentEmail } from "../../support/campaign-rows.ts";
import { client, newCompany, type TestCompany } from "../../support/client.ts";
import { signIn } from "../../support/console-browser.ts";

// Days begin at 11:00 UTC of the day before.
const ZONE = "Etc/GMT-13";
const BEFORE = "2026-02-28T10:59:59.999Z";
const BEGIN = "2026-02-28T11:00:00Z";
const LAST = "2026-03-01T10:59:59.999Z";
const AFTER = "2026-03-01T11:00:00Z";
const DAY = "2026-03-01";

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app);
  const path = `/api/companies/${company.id}/`;
  expect((await company.api.patch(path, { timezone: ZONE }, { token: company.token })).status).toBe(200);
});
afterAll(() => app.stop());

const count = async (path: string, asked: Record<string, string>, by = company.api) => {
  const { status, body } = await by.get(path, { query: asked });
  return status === 200 ? body.count : status;
};

test("segments and their exports use whole days for created_at and for date attributes", async () => {
  const add = async (at: string, birthday: unknown) => {
    const email = `${at.replaceAll(":", "-")}@example.com`;
    const { body } = await company.api.post("/api/emails/subscribers/", { email, attributes: { birthday } });
    await query("update subscribers set created_at = $2 where id = $1 and company_id = $3", [body.id, at, company.id]);
  };
  await add(BEFORE, "2026-02-28");
  await add(BEGIN, "2026-03-01");
  await add(LAST, "2026-03-02");
  await add(AFTER, "02/03/2026");
  const matching = async (field: string, operator: string, value: string) => {
    const { body } = await company.api.post("/api/emails/segments/preview/", {
      rules: { conditions: [{ field, operator, value }] },
    });
    return body.subscriber_count;
  };
  const expected = { lt: 1, before: 1, lte: 3, gte: 3, gt: 1, after: 1 };
  for (const [operator, n] of Object.entries(expected)) {
    expect([operator, await matching("created_at", operator, DAY)]).toEqual([operator, n]);
  }
  expect(await matching("attributes.birthday", "before", DAY)).toBe(1);
  expect(await matching("attributes.birthday", "after", DAY)).toBe(1);
  const { body: segment } = await company.api.post("/api/emails/segments/", {
    name: "Until that day",
    rules: { conditions: [{ field: "created_at", operator: "lte", value: DAY }] },
  });
  const exported = await company.api.get("/api/emails/subscribers/export/", { query: { segment: segment.id } });
  expect(exported.text.match(/@example\.com/g)).toHaveLength(3);
});

test("a segment and a preview on a date attribute report how many values are not dates", async () => {
  const rules = { conditions: [{ field: "attributes.birthday", operator: "before", value: DAY }] };
  const not_dates = [{ field: "attributes.birthday", count: 1 }];
  const preview = await company.api.post("/api/emails/segments/preview/", { rules });
  expect(preview.body).toMatchObject({ not_dates });
  const { body } = await company.api.post("/api/emails/segments/", { name: "Born before", rules });
  expect((await company.api.get(`/api/emails/segments/${body.id}/`)).body).toMatchObject({ not_dates });
  const byName = { conditions: [{ field: "first_name", operator: "equals", value: "Ann" }] };
  const other = await company.api.post("/api/emails/segments/preview/", { rules: byName });
  expect(other.body).toMatchObject({ not_dates: [] });
});

test("campaigns: created_after excludes the whole day, created_before includes no part of it", async () => {
  for (const at of [BEFORE, BEGIN, LAST, AFTER]) {
    const id = await campaign({ companyId: company.id });
    const idAt = `${Date.parse(at)
      .toString(16)
      .padStart(12, "0")
      .replace(/^(.{8})/, "$1-")}${id.slice(13)}`;
    await query("delete from campaign_contents where campaign_id = $1 and company_id = $2", [id, company.id]);
    await query("update campaigns set created_at = $2, id = $3 where id = $1 and company_id = $4", [
      id,
      at,
      idAt,
      company.id,
    ]);
  }
  expect(await count("/api/emails/campaigns/", { created_after: DAY })).toBe(1);
  expect(await count("/api/emails/campaigns/", { created_before: DAY })).toBe(1);
  expect(await count("/api/emails/campaigns/", { created_before: "2026-03-02" })).toBe(3);
  expect(await count("/api/emails/campaigns/", { created_after: "2026-02-31" })).toBe(400);
  expect(await count("/api/emails/campaigns/", { created_after: "2026-02" })).toBe(400);
});

test("events: since includes the day and until excludes it; statistics use the company's days", async () => {
  const id = await campaign({ companyId: company.id });
  const mail = await sentEmail(company.id, id);
  for (const at of [BEFORE, BEGIN, LAST, AFTER]) {
    await query(
      `insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, is_first, metadata, created_at)
       values ($1, $2, $3, $4, 'bounced', 'bob@example.com', true, '{}', $5)`,
      [newIdAt(Date.parse(at)), company.id, id, mail, at],
    );
  }
  const asked = { type: "bounced" };
  expect(await count("/api/emails/events/", { ...asked, since: DAY })).toBe(3);
  expect(await count("/api/emails/events/", { ...asked, until: DAY })).toBe(1);
  expect(await count("/api/emails/events/", { ...asked, since: DAY, until: "2026-03-02" })).toBe(2);
  const days = await query(
    "select day::text, sum(bounced)::int as n from company_days where company_id = $1 and bounced > 0 group by 1 order by 1",
    [company.id],
  );
  expect(days).toEqual([
    { day: "2026-02-28", n: 1 },
    { day: "2026-03-01", n: 2 },
    { day: "2026-03-02", n: 1 },
  ]);
});

test("statistics end with the current day in the company's time zone, and include the people created on it", async () => {
  const today = await queryOne<{ day: string }>("select local_time(now(), $1)::date::text as day", [ZONE]);
  const { body } = await company.api.get("/api/emails/stats/", { query: { days: 2 } });
  expect(body.growth.at(-1)).toMatchObject({ date: today!.day, subscribed: 4 });
});

test("the audit log, in the API and in the console, uses the company's days", async () => {
  const path = `/api/companies/${company.id}/audit-log/`;
  const owner = client(app, { token: company.token });
  for (const at of [BEFORE, BEGIN, LAST, AFTER]) {
    await query(
      `insert into audit_log select (jsonb_populate_record(a, jsonb_build_object('id', $2::uuid, 'at', $3::timestamptz))).*
       from audit_log a where a.company_id = $1 and a.action = 'company.updated' limit 1`,
      [company.id, newIdAt(Date.parse(at)), at],
    );
  }
  expect(await count(path, { since: DAY, until: "2026-03-02" }, owner)).toBe(2);
  expect(await count(path, { until: DAY }, owner)).toBe(1);
  const browser = await signIn(app, company);
  const page = (day: string) =>
    browser.open(`/app/${company.id}/settings/audit-log?action=company.updated&since=${day}&until=${day}`);
  expect((await page(DAY)).html).toContain("1 Mar 2026, 00:00");
  expect((await page("2026-02-28")).html).not.toContain("1 Mar 2026, 00:00");
});
