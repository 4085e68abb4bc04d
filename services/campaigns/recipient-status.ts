/** The states of a recipient by their number in sent_emails.status. */
export const RECIPIENT_STATUSES = ["queued", "sending", "sent", "failed", "bounced", "suppressed", "unknown"] as const;
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number];
