/**
 * The engine's statements are planned repeatedly while tables grow, long before PostgreSQL analyses them again. A plan
 * that finds recipients by anything but their campaign and seq reads a whole company for each one.
 */
import pg from "pg";
import { BY_KEY } from "../../../models/database/by-key.ts";
import { RECORD_AGAIN, RECORD_LATE, REQUEUE_UNSENT } from "../../../models/statements/record-late-outcomes.ts";
import { RECORD, RECORD_ALL, RECORD_ROW_ONLY } from "../../../models/statements/record-outcomes.ts";
import {
  CAMPAIGNS_WITH_DUE_COPIES,
  CAMPAIGNS_WITH_DUE_RETRIES,
  CLAIMABLE_CAMPAIGNS,
} from "../../../services/smtp-sender/claim/claim-statements.ts";
import {
  CLAIM_DUE,
  CLAIM_DUE_COPIES,
  READ,
  READ_AGAIN,
  RECHECK,
  RECHECK_COPIES,
  RENEW,
  RENEW_COPIES,
} from "../../../services/smtp-sender/delivery/recipient-statements.ts";
import { MARK_HITS, READ as READ_HIT, WRITE } from "../../../services/tracking/hits/hit-statements.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type PlannedNode, planned, withBelow } from "../../support/planned.ts";

const STATEMENTS = {
  READ,
  READ_AGAIN,
  RECHECK,
  RECHECK_COPIES,
  RENEW,
  CLAIM_DUE,
  CAMPAIGNS_WITH_DUE_RETRIES,
  RECORD,
  RECORD_ALL,
  RECORD_ROW_ONLY,
  RECORD_LATE,
  RECORD_AGAIN,
  REQUEUE_UNSENT,
  RENEW_COPIES,
  CLAIM_DUE_COPIES,
  READ_HIT,
  ...Object.fromEntries(Object.entries(WRITE).map(([to, statement]) => [`write hits to ${to}`, statement])),
  MARK_HITS,
};
/** Indexes of each partition. */
const HITS_OF_MAIL = /^hits_\d{4}_\d\d_hit_mail_idx$/;
const MAY_USE = [
  ...["0", "1"].map((part) => `sent_emails_${part}_unsent`),
  ...["0", "1"].flatMap((part) => [`sent_emails_${part}_pkey`, `sent_emails_${part}_campaign_no_next_attempt_at_idx`]),
  "email_events_of_mail",
  "sent_email_copies_pkey",
  "sent_email_copies_due",
];

/** The campaign alone is not enough: a look-up of one recipient would read all of its campaign. */
const PLACE = /campaign_(id|no)\b.*\b(seq|next_attempt_at)\b|\b(seq|next_attempt_at)\b.*campaign_(id|no)\b/;

describe("plans of tables that grew", () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeEach(async () => {
    database = await createDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const [name, value] of Object.entries(BY_KEY)) await client.query(`set ${name} = ${value}`);
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  const plan = async (statement: string) => withBelow(await planned(client, statement));

  const reads = async (statement: string): Promise<PlannedNode[]> =>
    (await plan(statement)).filter(
      (node) =>
        /^(sent_emails|sent_email_copies|email_events|hits)/.test(node["Index Name"] ?? "none") ||
        (node["Node Type"] === "Seq Scan" &&
          /^(sent_emails|sent_email_copies|email_events|hits)/.test(node["Relation Name"]!)),
    );

  const company = `
    insert into companies (id, name, plan) select uuid_v7(), 'A', name from plans limit 1;
    insert into campaigns (id, company_id, name, status, campaign_type, smtp_config_id, worker_task_id, no)
      select uuid_v7(), id, 'N', 'sending', 'custom', uuid_v7(), uuid_v7(), next_campaign_no() from companies`;
  const mails = (from: number, to: number) => `
    with mail as (
      insert into sent_emails (campaign_no, seq, email)
      select no, n, n || '@example.com' from campaigns, generate_series(${from}, ${to}) n
      returning seq, email),
    copy as (
      insert into sent_email_copies (company_id, campaign_id, seq, no, email, kind, next_attempt_at)
      select c.company_id, c.id, seq, 1, email, 'cc', now() from mail, campaigns c)
    insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, metadata)
    select c.company_id, c.id, uuid_v7(), 'opened', email, '{}' from mail, campaigns c`;

  test.each([
    ["nothing is known of them", ""],
    ["they were empty when last counted", "vacuum analyze"],
    ["they had one row when last counted", `${mails(1, 1)}; analyze`],
  ])("find mails by campaign and place where %s", async (_state, sql) => {
    await client.query(company);
    if (sql) await client.query(sql);
    await client.query(mails(2, 1_000));
    const wrong: string[] = [];
    for (const [name, statement] of Object.entries(STATEMENTS)) {
      const found = await reads(statement);
      if (found.length === 0) wrong.push(`${name} reads none of them`);
      for (const { "Index Name": index = "a scan of all", "Index Cond": condition = "" } of found) {
        const byPlace = index.startsWith("email_events") ? /sent_email_id/ : PLACE;
        if (!(MAY_USE.includes(index) || HITS_OF_MAIL.test(index)) || !byPlace.test(condition))
          wrong.push(`${name}: ${index} ${condition}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("the search for campaigns with due copies reads only the index of waiting copies", async () => {
    await client.query(
      `${company}; ${mails(1, 1_000)}; update sent_email_copies set next_attempt_at = null where seq > 5`,
    );
    const found = await reads(CAMPAIGNS_WITH_DUE_COPIES);
    expect(found.map((node) => node["Index Name"])).toEqual(Array(3).fill("sent_email_copies_due"));
  });

  test.each([
    ["nothing is known of it", ""],
    ["it was counted", "analyze"],
  ])(
    "the search for claimable campaigns begins with the active ones, for any number of companies, where %s",
    async (_state, sql) => {
      for (let n = 0; n < 50; n++) await client.query(company);
      if (sql) await client.query(sql);
      for (const statement of [CLAIMABLE_CAMPAIGNS, CAMPAIGNS_WITH_DUE_RETRIES]) {
        const found = await plan(statement);
        const conditions = (table: string) =>
          found.filter((node) => node["Relation Name"] === table).map((node) => node["Index Cond"]);
        expect(conditions("companies")).toEqual(["(id = c.company_id)"]);
        expect(conditions("plans")).toEqual([expect.stringContaining("name = o.plan")]);
        const alive = found.filter((node) => /^campaigns_/.test(node["Index Name"] ?? ""));
        expect(alive.map((node) => node["Index Name"])).toEqual(["campaigns_alive"]);
      }
    },
  );
});
