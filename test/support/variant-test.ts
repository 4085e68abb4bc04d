/**
 * Inserts a campaign with two variants and a winner by opens, as a send leaves it: 120 recipients, of whom 20 and 30
 * percent test the variants.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne, transaction } from "../../models/database/db.ts";
import { writeVariants } from "../../models/statements/campaign-variants.ts";
import { resume } from "../../services/campaigns/lifecycle/resume.ts";
import type { Ctx } from "../../services/lib/caller.ts";
import { newId } from "../../services/lib/ids.ts";
import { seal } from "../../services/lib/secrets.ts";

const RECIPIENTS = 120;

/** Sessions that wait for the decision's lock. */
const deciding = () =>
  query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%update campaign_winners%'`,
  );

type Until = (isSo: () => Promise<boolean>) => Promise<void>;

async function newCampaign(companyId: string, port: number): Promise<{ id: string; list: string }> {
  const [id, smtp, list] = [newId(), newId(), newId()];
  await query(
    `insert into smtp_configs (id, company_id, name, host, port, password_sealed, use_tls, sender_name, sender_email, max_connections)
     values ($1, $2, 'S', '127.0.0.1', $3, $4, false, 'Acme', 'news@acme.example', 5)`,
    [smtp, companyId, port, seal("", smtp)],
  );
  await query("insert into lists (id, company_id, name) values ($1, $2, 'Readers')", [list, companyId]);
  await query(
    `with added as (
       insert into subscribers (company_id, email) select $1, 'r' || n || '@' || $2::uuid || '.example' from generate_series(1, $3::int) n
       returning id)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
    [companyId, list, RECIPIENTS],
  );
  await transaction(async (client) => {
    await client.query(
      `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, smtp_config_id, list_id, worker_task_id)
       values ($1, $2, 'News', 'to_list', 'pending', $3, $4, $5, $1)`,
      [id, companyId, RECIPIENTS, smtp, list],
    );
    await client.query(
      `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
         list_id_ref, company_name, footer_text, tracking_enabled)
       values ($1, $2, 'Plain', '<p>Hi</p>', 'Acme', 'news@acme.example', 'Readers', $3, 'Acme', 'Acme, 1 Road', true)`,
      [id, companyId, list],
    );
    const variants = [
      { subject: "Apples", percent: 20 },
      { subject: "Pears", percent: 30 },
    ];
    await writeVariants(client, companyId, id, variants, { metric: "opens", after_minutes: 600 });
  });
  return { id, list };
}

export async function newVariantTest(companyId: string, port: number) {
  const { id, list } = await newCampaign(companyId, port);
  const values = [id];
  const OWN = "campaign_no = (select no from campaigns where id = $1)";
  const isOver = async () =>
    (await queryOne("select from campaigns where id = $1 and status in ('completed', 'partial', 'failed')", values)) !==
    undefined;

  return {
    /** Domain of the recipients' addresses. */
    domain: `${list}.example`,
    winner: async () =>
      (await queryOne<{ due_at: Date | null; winner: number | null }>(
        "select due_at, winner from campaign_winners where campaign_id = $1",
        values,
      ))!,
    timeIsUp: () =>
      query("update campaign_winners set due_at = now() where campaign_id = $1 and winner is null", values),
    async dealt() {
      const rows = await query<{ variant: string; n: number }>(
        `select coalesce(variant::text, 'rest') as variant, count(*)::int as n from sent_emails where ${OWN} group by 1`,
        values,
      );
      return Object.fromEntries(rows.map(({ variant, n }) => [variant, n]));
    },
    async variants() {
      const rows = await query<{ email: string; variant: number | null }>(
        `select s.email, e.variant from sent_emails e join subscribers s on s.id = e.subscriber_id where e.${OWN}`,
        values,
      );
      return new Map(rows.map(({ email, variant }) => [email, variant]));
    },
    opened: (variant: number, people: number) =>
      query(
        `insert into email_events (company_id, campaign_id, type, recipient, is_first, variant)
         select $2, $1, 'opened', 'x', true, $3 from generate_series(1, $4::int)`,
        [id, companyId, variant, people],
      ),
    /**
     * Locks the chunks of the remaining recipients during the work; `isAskedFor` tells whether a session waits for
     * them.
     */
    holdRest: (during: (isAskedFor: () => Promise<boolean>) => Promise<void>) =>
      transaction(async (client) => {
        await client.query("select from send_chunks where campaign_id = $1 and state = 3 for update", values);
        await during(async () => {
          // Keeps the transaction from being ended after 10 s idle.
          await client.query("select");
          return (await deciding()).length > 0;
        });
        // A dead process's session still waits for the lock and would write once it gets it.
        for (;;) {
          const left = await deciding();
          if (left.length === 0) return;
          for (const { pid } of left) await client.query("select pg_terminate_backend($1)", [pid]);
          await sleep(20);
        }
      }),
    async ended(until: Until) {
      await until(isOver);
      const counts = await queryOne<{ sent: number; unknown: number }>(
        `select count(*) filter (where status = 2)::int as sent, count(*) filter (where status = 6)::int as unknown
         from sent_emails where ${OWN}`,
        values,
      );
      return counts!;
    },
    async resume(until: Until) {
      await resume({ meta: { companyId }, emit: async () => {} } as unknown as Ctx, id);
      await until(isOver);
    },
  };
}
