/** Counts the recipients that a resume of each campaign would send to. Decides like `whyNotResumable` (resume.ts), for several campaigns at once. */
import { query } from "../../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";

const { failed, unknown } = SENT_EMAIL_STATUS;

// The conditions are those of the index of failed recipients of each part (add_recipient_part).
const COUNT = `
  select c.id, c.unwritten + r.n as count
  from campaigns c cross join lateral (
    select count(*)::int as n, coalesce(bool_or(f.status = ${unknown}), false) as in_doubt from (
      select e.status from sent_emails e
      where e.campaign_no = c.no and e.seq > 0 and e.error is not null and e.bounced_at is null and e.next_attempt_at is null
        and e.status in (${failed}, ${unknown})
      limit $3) f) r
  where c.company_id = $1 and c.id = any ($2::uuid[]) and c.deleted_at is null and c.recipients_state = 'kept'
    and (c.status = 'partial' or c.status = 'failed' and (c.sent_count > 0 or r.in_doubt))`;

export const retryable = (
  companyId: string,
  { ids, at_most }: ParamsOf<"campaigns.retryable">,
): Promise<ReturnsOf<"campaigns.retryable">> => query(COUNT, [companyId, ids, at_most]);
