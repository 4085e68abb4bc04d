/** Inserts campaign rows as a send leaves them, for tests of later stages. */
import { query } from "../../models/database/db.ts";
import { mailIds } from "../../models/statements/mail-key.ts";
import { newId } from "../../services/lib/ids.ts";
import { seal } from "../../services/lib/secrets.ts";
import type { MailNumber } from "../../services/lib/tokens/mail-id.ts";

interface Given {
  companyId: string;
  subject?: string;
  body?: string;
  tracking?: boolean;
  transactional?: boolean;
  mediaIds?: string[];
  smtpConfigId?: string;
}

export async function smtpConfig(
  companyId: string,
  dkim?: { domain: string; selector: string; privateKey: string },
): Promise<string> {
  const id = newId();
  await query(
    `insert into smtp_configs (id, company_id, name, host, port, sender_email, dkim_domain, dkim_selector, dkim_key_sealed)
     values ($1, $2, 'S', 'localhost', 25, 'ann@example.com', $3, $4, $5)`,
    [id, companyId, dkim?.domain, dkim?.selector, dkim && seal(dkim.privateKey, id)],
  );
  return id;
}

export async function campaign(given: Given): Promise<string> {
  const id = newId();
  const { companyId } = given;
  await query(
    `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, is_transactional)
     values ($1, $2, 'C', 'custom', 'pending', $3, $1, $4)`,
    [id, companyId, given.smtpConfigId ?? (await smtpConfig(companyId)), given.transactional ?? false],
  );
  await query(
    `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
       list_id_ref, company_name, footer_text, tracking_enabled, media_ids)
     values ($1, $2, $3, $4, 'Ann', 'ann@example.com', 'News', $2, 'ACME', 'Street 1', $5, $6)`,
    [
      id,
      companyId,
      given.subject ?? "Hi [[first_name]]",
      given.body ?? "<p>Hi</p>",
      given.tracking ?? true,
      given.mediaIds ?? [],
    ],
  );
  return id;
}

export async function sentEmail(
  companyId: string,
  campaignId: string,
  given: { email?: string; subscriberId?: string; variables?: object } = {},
): Promise<string> {
  await query("update campaigns set no = next_campaign_no(), expansion_began_at = now() where id = $1 and no is null", [
    campaignId,
  ]);
  const numbers = await query<MailNumber>(
    `insert into sent_emails (campaign_no, seq, email, subscriber_id, variables)
     select c.no, (select coalesce(max(seq), 0) + 1 from sent_emails where campaign_no = c.no), $3, $4, $5
     from campaigns c where c.company_id = $1 and c.id = $2 returning campaign_no, seq`,
    [companyId, campaignId, given.email ?? "bob@example.com", given.subscriberId, given.variables],
  );
  return (await mailIds()).of(numbers)[0]!;
}

export async function media(companyId: string, filename: string, parts: Buffer[]): Promise<string> {
  const id = newId();
  const size = Buffer.concat(parts).length;
  await query(
    "insert into media (id, company_id, filename, content_type, size, sha256) values ($1, $2, $3, 'application/pdf', $4, '')",
    [id, companyId, filename, size],
  );
  for (const [no, data] of parts.entries()) {
    await query("insert into media_parts (media_id, no, data) values ($1, $2, $3)", [id, no, data]);
  }
  return id;
}
