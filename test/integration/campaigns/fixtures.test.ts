/**
 * Sender tests write campaigns by SQL, because they need thousands of recipients quickly. This compares such a campaign
 * with one of the campaigns service.
 */
import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { Sending } from "../../support/sending.ts";
import { expanded } from "./world.ts";

const API = "/api/emails";
const RECEIVERS = [
  { email: "r1@to.example", cc: ["cc@to.example"], bcc: ["bcc@to.example"] },
  { email: "r2@to.example" },
];

let app: App;
let company: TestCompany;
let smtpConfigId: string;

beforeAll(async () => {
  app = await startApp();
  company = await newCompany(app);
  const config = { name: "S", host: "127.0.0.1", port: 25, username: "", password: "", use_tls: false };
  const made = await company.api.post(`${API}/smtp-configs/`, { ...config, sender_email: "news@sender.example" });
  smtpConfigId = made.body.id;
});
afterAll(() => app.stop());

const TABLES = {
  campaigns: "id",
  campaign_contents: "campaign_id",
  sent_emails: "campaign_no",
  send_chunks: "campaign_id",
};
type Table = keyof typeof TABLES;

/** Replaces values that differ between campaigns. */
function kindOf(value: unknown): unknown {
  if (value instanceof Date) return "a time";
  if (typeof value === "string" && /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value)) return "an id";
  return value;
}

/** First row of each table without the columns in `free`. */
async function shapes(campaignId: string, free: Partial<Record<Table, string[]>>) {
  const found: Record<string, Record<string, unknown>> = {};
  for (const [table, key] of Object.entries(TABLES)) {
    const value = key === "campaign_no" ? "(select no from campaigns where id = $1)" : "$1";
    const order = table === "sent_emails" ? " order by seq" : "";
    const [row] = await query<Record<string, unknown>>(`select * from ${table} where ${key} = ${value}${order}`, [
      campaignId,
    ]);
    const columns = Object.entries(row ?? {}).filter(([column]) => !free[table as Table]?.includes(column));
    found[table] = Object.fromEntries(columns.map(([column, value]) => [column, kindOf(value)]));
  }
  return found;
}

test("a campaign of sender tests is what a send and its expansion leave", async () => {
  // Paused, so that senders of this process touch neither.
  await query("update companies set sending_paused_at = now() where id = $1", [company.id]);
  const given = { name: "Campaign", smtp_config_id: smtpConfigId, subject: "Hello", body: "<p>Hello</p>" };
  const sent = await company.api.post(`${API}/send/custom/`, { ...given, receivers: RECEIVERS });
  expect(sent).toMatchObject({ status: 201 });
  await expanded(sent.body.id);
  const byHand = await new Sending().campaign({ companyId: company.id, smtpConfigId, recipients: RECEIVERS });
  const free = {
    // Input of the renderer, which those tests replace.
    campaign_contents: ["company_name", "list_id_name", "reply_to_email", "sender_name", "tracking_enabled"],
    // Not sent with an API key.
    campaigns: ["api_key_id", "no"],
    // Receivers are not subscribers, as after a failed save.
    sent_emails: ["subscriber_id", "email", "campaign_no"],
  };
  expect(await shapes(byHand, free)).toEqual(await shapes(sent.body.id, free));
});
