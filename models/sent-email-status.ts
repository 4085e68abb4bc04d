/**
 * The states of a recipient's row (sent_emails) and of the leases on runs of them (send_chunks).
 *
 * | status     | set by                                                | from             | next_attempt_at means      |
 * |------------|-------------------------------------------------------|------------------|----------------------------|
 * | queued     | expansion of the audience (campaigns)                 | new row          | null: its chunk says who may send it |
 * |            | the recorder: 4xx or not accepted; not handed over    | queued, sending  | when the next try is due   |
 * |            | the recorder: no room within its domain's limits      | queued, sending  | when it is looked at again |
 * |            | recovery of an expired lease, transactional mail      | sending          | now: due at once           |
 * |            | late: its sender is back and knows that it never left | unknown          | now: due at once           |
 * |            | resume (campaigns)                                    | failed, unknown  | null, with its chunk       |
 * | sending    | the claim of a due retry (rows of a chunk skip it)    | queued, due      | the end of the row's own lease |
 * | sent       | the recorder: 2xx to the end of the message           | queued, sending  | null                       |
 * |            | evidence: an open, click, unsubscribe, complaint      | unknown          | null                       |
 * | failed     | the recorder: 5xx, not renderable, out of tries       | queued, sending  | null                       |
 * |            | campaigns: what is left of a stopped campaign         | queued           | null                       |
 * | bounced    | the recorder: the address does not exist              | queued, sending  | null                       |
 * |            | a bounce that came later; of a failed one a hard one  | sent, unknown, failed | null                  |
 * | suppressed | expansion: a receiver of a request who may not get it | new row, of no chunk | null                |
 * |            | the recorder: may not get the mail (any more)         | queued, sending  | null                       |
 * | unknown    | the recorder: no reply to the end of a newsletter     | queued, sending  | null                       |
 * |            | recovery: handed over, and its sender died            | queued, sending  | null                       |
 * |            | campaigns: what a restored database does not know     | queued           | null                       |
 *
 * Late results (record-late-outcomes.ts) make an unknown recipient sent, failed or bounced, too, and one that was queued
 * again sent. Nothing but these, resume, evidence (settle-doubt.ts) and what comes back (record-returns.ts) leads out of a final state. A row of a chunk that is being delivered stays queued until its result is
 * written: `send_chunks.marked_to` says up to which seq rows may have been handed to SMTP.
 *
 * Copies (sent_email_copies) use the same states. Their rows are written when the mail itself is sent: with what the first
 * transaction of the copies led to, or queued. From there a deferred one goes the way of a due retry, and in a stopped
 * campaign it becomes failed when it is claimed; nothing resumes it.
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

/** Names by number, as they are stored. */
export const SENT_EMAIL_STATUSES = Object.keys(SENT_EMAIL_STATUS) as SentEmailStatus[];
