/**
 * Defines the states of a recipient's row (sent_emails) and of leased chunks (send_chunks).
 *
 * | status     | set by                                                | from                  | next_attempt_at means                   |
 * |------------|-------------------------------------------------------|-----------------------|-----------------------------------------|
 * | queued     | expansion of the audience (campaigns)                 | new row               | null: its chunk decides who may send it |
 * |            | the recorder: 4xx or not accepted; not handed over    | queued, sending       | when the next try is due                |
 * |            | the recorder: its domain's limit is reached           | queued, sending       | when it is checked again                |
 * |            | recovery of an expired lease, transactional mail      | sending               | now: due at once                        |
 * |            | late: its sender is back and knows it was not sent    | unknown               | now: due at once                        |
 * |            | resume (campaigns)                                    | failed, unknown       | null, with its chunk                    |
 * | sending    | the claim of a due retry (rows of a chunk skip it)    | queued, due           | the end of the row's own lease          |
 * | sent       | the recorder: 2xx to the end of the message           | queued, sending       | null                                    |
 * |            | evidence: an open, click, unsubscribe, complaint      | unknown               | null                                    |
 * | failed     | the recorder: 5xx, not renderable, out of tries       | queued, sending       | null                                    |
 * |            | campaigns: the rest of a stopped campaign             | queued                | null                                    |
 * | bounced    | the recorder: the address does not exist              | queued, sending       | null                                    |
 * |            | a later bounce; for a failed recipient a hard one     | sent, unknown, failed | null                                    |
 * | suppressed | expansion: a receiver of a request who may not get it | new row, of no chunk  | null                                    |
 * |            | the recorder: may not get the email (any more)        | queued, sending       | null                                    |
 * | unknown    | the recorder: no reply to the end of a newsletter     | queued, sending       | null                                    |
 * |            | recovery: handed over, and its sender died            | queued, sending       | null                                    |
 * |            | campaigns: after the restore of a database            | queued                | null                                    |
 *
 * Late results (record-late-outcomes.ts) also turn unknown into sent, failed or bounced, and a requeued recipient into
 * sent. Only these, resume, evidence (settle-doubt.ts) and bounces (record-returns.ts) change a final state. A row of a
 * chunk that is being delivered stays queued until its result is written: `send_chunks.marked_to` says up to which seq
 * rows may have been handed to SMTP.
 *
 * Copies (sent_email_copies) use the same states. Their rows are written with the email's own result: with the outcome
 * of the copies' first transaction, or queued. A deferred copy is then a retry like any other; in a stopped campaign it
 * fails when claimed, and is never resumed.
 */
export const SENT_EMAIL_STATUS = {
  queued: 0,
  sending: 1,
  sent: 2,
  failed: 3,
  bounced: 4,
  suppressed: 5,
  unknown: 6,
} as const;
export type SentEmailStatus = keyof typeof SENT_EMAIL_STATUS;

/** Names by stored number. */
export const SENT_EMAIL_STATUSES = Object.keys(SENT_EMAIL_STATUS) as SentEmailStatus[];
