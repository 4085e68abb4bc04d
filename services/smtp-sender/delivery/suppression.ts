/**
 * Checks suppressions when a recipient's row is read, and again while the email or a copy waits. A suppressed or
 * unsubscribed person gets no mail whose envelope starts more than 2 seconds later, however slow the server. Emails for
 * a fast server wait less than RECHECK_AFTER_MS and are checked once. List membership is not rechecked: a person who
 * only leaves the list after the row was written still gets the campaign.
 */

import { SUPPRESSION_SENTENCES } from "../../../models/suppression.ts";
import type { PinnedConnection } from "../engine/pinned-connection.ts";
import type { Outcome } from "./outcome.ts";
import { RECHECK, RECHECK_COPIES } from "./recipient-statements.ts";
import type { ClaimableCampaign, RecipientRow } from "./rows.ts";

/** Emails that wait longer are rechecked together, a few times per second. */
export const RECHECK_AFTER_MS = 700;
/** Maximum age of the last check when an email is handed over. */
export const MAX_CHECK_AGE_MS = 1_250;

/** `kind`: the suppression's kind, or the subscriber's status. */
export const suppressionSentence = (kind: string): string =>
  SUPPRESSION_SENTENCES[kind] ?? SUPPRESSION_SENTENCES.manual!;

type Campaign = Pick<ClaimableCampaign, "is_transactional" | "campaign_type">;

/** Transactional mail ignores an unsubscription, but no other suppression. */
function suppressionOf(row: RecipientRow, campaign: Campaign): string | undefined {
  const { is_transactional: isTransactional, campaign_type } = campaign;
  if (row.blocked && !(isTransactional && row.blocked === "unsubscribed")) return suppressionSentence(row.blocked);
  // The email itself was sent, so its subscriber's status does not matter any more.
  if (row.copy_no !== undefined) return undefined;
  const { subscriber_status: status } = row;
  // Members of a list or segment are or were subscribers; receivers named by a request need not be.
  if (status === null && (row.subscriber_id !== null || campaign_type === "to_list"))
    return "The subscriber was deleted.";
  if (isTransactional || status === null || status === "active") return undefined;
  return suppressionSentence(status);
}

/**
 * Outcome of an email that may not be sent, as of its row's last check; undefined if it may. Recipients of a stopped
 * campaign are failed by the campaigns service, its copies here.
 */
export function outcomeUnsent(row: RecipientRow, campaign: Campaign): Outcome | undefined {
  const error = suppressionOf(row, campaign);
  if (error) return { status: "suppressed", error, reply: null };
  return row.stopped_by ? { status: "failed", error: row.stopped_by, reply: null } : undefined;
}

type Check = Pick<RecipientRow, "seq" | "subscriber_status" | "blocked" | "blocked_copies">;
type CopyCheck = Pick<RecipientRow, "seq" | "copy_no" | "blocked" | "stopped_by">;

/**
 * Refreshes the data of the two functions above in one statement: either all rows are recipients, or all are copies.
 */
export async function checkAgain(
  reads: PinnedConnection,
  { campaign_id, company_id, is_transactional }: ClaimableCampaign,
  rows: readonly RecipientRow[],
): Promise<void> {
  const seqs = rows.map(({ seq }) => seq);
  if (rows[0]?.copy_no !== undefined) {
    const values = [campaign_id, company_id, seqs, rows.map((row) => row.copy_no)];
    const checks = await reads.run<CopyCheck>("recheck-copies", RECHECK_COPIES, values);
    // A copy has its email's number but a different address.
    const byKey = new Map(rows.map((row) => [`${row.seq} ${row.copy_no}`, row]));
    for (const check of checks) Object.assign(byKey.get(`${check.seq} ${check.copy_no}`)!, check);
    return;
  }
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  const values = [campaign_id, company_id, seqs, is_transactional];
  for (const check of await reads.run<Check>("recheck", RECHECK, values)) Object.assign(bySeq.get(check.seq)!, check);
}
