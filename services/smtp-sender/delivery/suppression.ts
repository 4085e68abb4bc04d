/** Why a recipient may not get a mail, as a sentence for the user. Pure. */
import type { RecipientRow } from "./rows.ts";

const SUPPRESSION: Record<string, string> = {
  manual: "The address or its domain is suppressed.",
  unsubscribed: "The recipient has unsubscribed.",
  bounced: "Mail to this address bounced before.",
  complained: "The recipient has complained about mail.",
};

/** `kind`: of the suppression. */
export const suppressionSentence = (kind: string): string => SUPPRESSION[kind] ?? SUPPRESSION.manual!;

/** As of now; undefined where nothing is in the way. Transactional mail passes an unsubscription, and nothing else. */
export function suppressionOf(row: RecipientRow, isTransactional: boolean): string | undefined {
  if (row.blocked && !(isTransactional && row.blocked === "unsubscribed")) return suppressionSentence(row.blocked);
  // The mail itself went out, whatever became of its subscriber since then.
  if (row.copy_no !== undefined) return undefined;
  const { subscriber_status: status } = row;
  if (row.subscriber_id !== null && status === null) return "The subscriber was deleted.";
  if (isTransactional || status === null || status === "active") return undefined;
  return status === "unconfirmed" ? "The subscriber has not confirmed the subscription." : suppressionSentence(status);
}
