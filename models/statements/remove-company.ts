/**
 * Deletes all rows of deleted companies, in steps of some thousand rows and one transaction each. Steps are stateless:
 * each deletes what it finds, so that after a crash the next one continues, and any number of nodes may run in
 * parallel.
 *
 * Campaigns are deleted first, one by one with their recipients; then rows found by the company; its own row last.
 */
import { type Client, query, queryOne, transaction } from "../database/db.ts";
import { SEND_CHUNK_STATE } from "../send-chunk.ts";
import { companyNo } from "./hits.ts";

const ROWS = 5_000;
/** Files per step; each takes up to 25 MB with its parts. */
const FILES = 5;
/** Drafts per step; each has up to 10,000 receivers. */
const DRAFTS = 50;
const CAMPAIGNS = 200;

const DELETED = "select id from companies where deleted_at is not null order by deleted_at limit 20";

export const deletedCompanies = async (): Promise<string[]> =>
  (await query<{ id: string }>(DELETED)).map(({ id }) => id);

// An email in delivery keeps its row until its result is recorded or its sender has stopped.
const IN_FLIGHT = `select from send_chunks where company_id = $1 and state = ${SEND_CHUNK_STATE.leased} and lease_until > now() limit 1`;

/** $2: campaigns in the order of ids. Every statement of these deletes at most ROWS. */
const OF_CAMPAIGNS = [
  `delete from sent_emails e using (
     select e.campaign_no, e.seq from campaigns c join sent_emails e on e.campaign_no = c.no
     where c.company_id = $1 and c.id = any ($2::uuid[]) limit ${ROWS}) g
   where e.campaign_no = g.campaign_no and e.seq = g.seq`,
  ...["sent_email_copies", "send_chunks", "campaign_receivers", "campaign_counts"].map(
    (table) => `delete from ${table} where ctid = any (array(
     select ctid from ${table} where company_id = $1 and campaign_id = any ($2::uuid[]) limit ${ROWS}))`,
  ),
];

const byCompany = (table: string, rows = ROWS) =>
  `delete from ${table} where ctid = any (array(select ctid from ${table} where company_id = $1 limit ${rows})) and company_id = $1`;

const OF_COMPANY = [
  // Once the emails are deleted, no more hits arrive.
  `delete from hits h using (
     select id, campaign_no, seq from hits where company_no = ${companyNo("$1")} limit ${ROWS}) g
   where hit_mail(h.campaign_no, h.seq) = hit_mail(g.campaign_no, g.seq) and h.id = g.id`,
  `delete from webhook_deliveries where ctid = any (array(
     select d.ctid from webhook_endpoints w join webhook_deliveries d on d.endpoint_id = w.id
     where w.company_id = $1 limit ${ROWS})) and company_id = $1`,
  ...[
    "webhook_endpoints",
    "email_events",
    "inbound_messages",
    "inbound_raws",
    "inbound_seen",
    "list_members",
    "subscribers",
    "lists",
    "segments",
    "suppressions",
    "erased_addresses",
    "import_errors",
    "idempotency_keys",
    "saved_blocks",
    "template_versions",
    "templates",
  ].map((table) => byCompany(table)),
  byCompany("media", FILES),
  byCompany("drafts", DRAFTS),
  byCompany("import_parts", FILES),
  byCompany("imports"),
  ...[
    "warmup_ledgers",
    "smtp_configs",
    "audit_log",
    "invitations",
    "usage_months",
    "hour_ledgers",
    "campaign_counts",
    "counters",
    "company_days",
  ].map((table) => byCompany(table)),
  // All other references are deleted by foreign keys.
  "delete from companies where id = $1 and deleted_at is not null",
];

const deletedRows = async (client: Client, sql: string, values: unknown[]): Promise<number> =>
  (await client.query(sql, values)).rowCount ?? 0;

/** Deletes the first campaigns, up to a step's number of rows. Undefined if there are no more. */
async function someCampaigns(client: Client, companyId: string): Promise<number | undefined> {
  const sql = `select id from campaigns where company_id = $1 order by id limit ${CAMPAIGNS} for update skip locked`;
  const ids = (await query<{ id: string }>(sql, [companyId], client)).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  for (const statement of OF_CAMPAIGNS) {
    const rows = await deletedRows(client, statement, [companyId, ids]);
    if (rows > 0) return rows;
  }
  return deletedRows(client, "delete from campaigns where company_id = $1 and id = any ($2::uuid[])", [companyId, ids]);
}

/**
 * Runs one step. `rows`: number of deleted rows; `over`: everything is deleted, or the company has to wait for its
 * senders.
 */
export function removeStep(companyId: string): Promise<{ rows: number; over: boolean }> {
  return transaction(async (client) => {
    if (await queryOne(IN_FLIGHT, [companyId], client)) return { rows: 0, over: true };
    const campaigns = await someCampaigns(client, companyId);
    if (campaigns !== undefined) return { rows: campaigns, over: false };
    // Another node has locked the last ones.
    if (await queryOne("select from campaigns where company_id = $1 limit 1", [companyId], client))
      return { rows: 0, over: true };
    for (const statement of OF_COMPANY) {
      const rows = await deletedRows(client, statement, [companyId]);
      if (rows > 0) return { rows, over: statement === OF_COMPANY.at(-1) };
    }
    return { rows: 0, over: true };
  });
}
