/**
 * Status of the copies (cc, bcc) of sent emails. Copies have rows once their message is sent; until then the message's
 * status applies.
 */
import { query } from "../../../models/database/db.ts";
import { sameCompany } from "../../../models/database/same-company.ts";
import { copyAddresses } from "../../../models/sent-email-copy.ts";
import { SENT_EMAIL_STATUSES } from "../../../models/sent-email-status.ts";
import type { ReturnsOf } from "../../contracts.ts";

type Copy = ReturnsOf<"tracking.listSentEmails">["results"][number]["copies"][number];

interface Mail {
  campaign_id: string;
  seq: number;
  cc: string[] | null;
  bcc: string[] | null;
  status: number;
}

interface CopyRow {
  campaign_id: string;
  seq: number;
  email: string;
  kind: "cc" | "bcc";
  status: number;
  error: string | null;
  sent_at: Date | null;
}

const COPIES = `
  select c.campaign_id, c.seq, c.email, c.kind, c.status, c.error, c.sent_at
  from unnest($2::uuid[], $3::int[]) m (campaign_id, seq)
  join sent_email_copies c on c.campaign_id = m.campaign_id and c.seq = m.seq and ${sameCompany("c.company_id", "$1")}
  order by c.campaign_id, c.seq, c.no`;

const NOT_SENT = "Not sent, because the mail to the recipient was not accepted.";
const NOT_RECORDED = "The result of this copy was not recorded. It may have been delivered.";

function withoutRow(mail: Mail): Pick<Copy, "status" | "error"> {
  switch (SENT_EMAIL_STATUSES[mail.status]) {
    case "queued":
    case "sending":
      return { status: "queued", error: null };
    case "sent":
    case "unknown":
      return { status: "unknown", error: NOT_RECORDED };
    default:
      return { status: "failed", error: NOT_SENT };
  }
}

const keyOf = ({ campaign_id, seq }: { campaign_id: string; seq: number }) => `${campaign_id} ${seq}`;

const view = ({ email, kind, status, error, sent_at }: CopyRow): Copy => ({
  email,
  kind,
  status: SENT_EMAIL_STATUSES[status]!,
  error,
  sent_at: sent_at?.toISOString() ?? null,
});

/** Results in the order of the messages. Queries only if a message has copies. */
export async function copiesOfMails(companyId: string, mails: readonly Mail[]): Promise<Copy[][]> {
  const copied = mails.filter(({ cc, bcc }) => cc?.length || bcc?.length);
  const rows = new Map<string, Copy[]>();
  if (copied.length > 0) {
    const values = [companyId, copied.map(({ campaign_id }) => campaign_id), copied.map(({ seq }) => seq)];
    for (const row of await query<CopyRow>(COPIES, values)) {
      rows.set(keyOf(row), [...(rows.get(keyOf(row)) ?? []), view(row)]);
    }
  }
  return mails.map(
    (mail) =>
      rows.get(keyOf(mail)) ??
      copyAddresses(mail).map(({ email, kind }) => ({ email, kind, ...withoutRow(mail), sent_at: null })),
  );
}
