/** sent_emails.status: what has become of a recipient. The numbers are stored, so they never change. */
export const SENT_EMAIL_STATUS = {
  queued: 0,
  sending: 1,
  sent: 2,
  failed: 3,
  bounced: 4,
  suppressed: 5,
  unknown: 6,
} as const;
