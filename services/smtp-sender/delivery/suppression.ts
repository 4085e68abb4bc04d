/**
 * Who may not get a mail any more. It is asked when a recipient's row is read, and again while the mail waits: whoever is
 * suppressed or unsubscribes gets no mail whose envelope begins more than 2 seconds later, however slow the server. At a
 * fast one mails wait for less than RECHECK_AFTER_MS, and nothing is asked twice.
 */
import type { EngineContext } from "../engine/context.ts";
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

/** Why the recipient may not get the mail, as of the row's last check. Transactional mail passes an unsubscription, and nothing else. */
export function suppressionOf(row: RecipientRow, isTransactional: boolean): string | undefined {
  if (row.blocked && !(isTransactional && row.blocked === "unsubscribed")) {
    return SUPPRESSION[row.blocked] ?? SUPPRESSION.manual!;
  }
  const { subscriber_status: status } = row;
  if (row.subscriber_id !== null && status === null) return "The subscriber was deleted.";
  if (isTransactional || status === null || status === "active") return undefined;
  return status === "unconfirmed" ? "The subscriber has not confirmed the subscription." : SUPPRESSION[status]!;
}

type Check = Pick<RecipientRow, "seq" | "subscriber_status" | "blocked">;

/** Brings `blocked` and `subscriber_status` of the rows up to date, in one statement. */
export async function checkAgain(
  context: EngineContext,
  { campaign_id, company_id }: ClaimableCampaign,
  rows: readonly RecipientRow[],
): Promise<void> {
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  const checks = await context.reads.run<Check>("recheck", RECHECK, [campaign_id, company_id, [...bySeq.keys()]]);
  for (const { seq, ...check } of checks) Object.assign(bySeq.get(seq)!, check);
}
