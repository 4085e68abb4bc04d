/**
 * Who may not get a mail any more. It is asked when a recipient's row is read, and again while the mail waits: whoever is
 * suppressed or unsubscribes gets no mail whose envelope begins more than 2 seconds later, however slow the server. At a
 * fast one mails wait for less than RECHECK_AFTER_MS, and nothing is asked twice.
 */
import type { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import { RECHECK } from "./recipient-statements.ts";
import type { ClaimableCampaign, RecipientRow } from "./rows.ts";

/** What waits for longer is checked again: a few times a second all that waits is looked at. */
export const RECHECK_AFTER_MS = 700;
/** No mail is handed over whose last check is older. */
export const MAX_CHECK_AGE_MS = 1_250;

const SUPPRESSION: Record<string, string> = {
  manual: "The address or its domain is suppressed.",
  unsubscribed: "The recipient has unsubscribed.",
  bounced: "Mail to this address bounced before.",
  complained: "The recipient has complained about mail.",
};

/** `kind`: of the suppression. */
export const suppressionSentence = (kind: string): string => SUPPRESSION[kind] ?? SUPPRESSION.manual!;

/** As of the row's last check; undefined where nothing is in the way. Transactional mail passes an unsubscription, and nothing else. */
export function suppressionOf(row: RecipientRow, isTransactional: boolean): string | undefined {
  if (row.blocked && !(isTransactional && row.blocked === "unsubscribed")) return suppressionSentence(row.blocked);
  // The mail itself went out, whatever became of its subscriber since then.
  if (row.copy_no !== undefined) return undefined;
  const { subscriber_status: status } = row;
  if (row.subscriber_id !== null && status === null) return "The subscriber was deleted.";
  if (isTransactional || status === null || status === "active") return undefined;
  return status === "unconfirmed" ? "The subscriber has not confirmed the subscription." : suppressionSentence(status);
}

type Check = Pick<RecipientRow, "seq" | "subscriber_status" | "blocked">;

/** Brings `blocked` and `subscriber_status` of the rows up to date, in one statement. */
export async function checkAgain(
  reads: PinnedConnection,
  { campaign_id, company_id }: ClaimableCampaign,
  rows: readonly RecipientRow[],
): Promise<void> {
  // A copy (cc, bcc) has its mail's number and an address of its own: it was checked when it was claimed, just now.
  const bySeq = new Map(rows.flatMap((row) => (row.copy_no === undefined ? [[row.seq, row] as const] : [])));
  if (bySeq.size === 0) return;
  const checks = await reads.run<Check>("recheck", RECHECK, [campaign_id, company_id, [...bySeq.keys()]]);
  for (const { seq, ...check } of checks) Object.assign(bySeq.get(seq)!, check);
}
