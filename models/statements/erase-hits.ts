/** Erases opens and clicks of a person. They contain no address and are found through the person's emails. */
import { type ErasureTarget, inSteps, WRITTEN } from "./erase-steps.ts";
import { companyNo, hitsOfMails } from "./hits.ts";

/** Sets a flag that makes triggers keep the campaign's numbers. */
export const SKIP_COUNTING = "select set_config('flockmail.erasing', 'on', true), $1::uuid";

/**
 * Runs before the emails, through which hits are found, are emptied. Hits that arrive in between are deleted with the
 * emails.
 */
export const HITS: ErasureTarget[] = [
  {
    counted: "events",
    before: SKIP_COUNTING,
    sql: inSteps(
      [
        `mail as materialized (
          (select e.campaign_no, e.seq from subscribers p join sent_emails e on e.subscriber_id = p.id
            where p.company_id = $1 and p.email_key = any ($2))
          union
          (select e.campaign_no, e.seq from sent_emails e
            where e.email is not null and lower(e.email) = any ($2)))`,
        `found as materialized (
          select h.id, h.campaign_no, h.seq from ${hitsOfMails("mail k", "$1")} limit ${WRITTEN})`,
        `gone as (delete from hits h using found f
          where hit_mail(h.campaign_no, h.seq) = hit_mail(f.campaign_no, f.seq) and h.id = f.id returning 1)`,
      ],
      "gone",
    ),
  },
];

/** Deletes hits of emails $2 (JSON) emptied by a step that arrived since the hits were searched. */
export const DELETE_HITS_OF_MAILS = `
  delete from hits h using json_to_recordset($2::json) m (campaign_no int, seq int)
  where h.company_no = ${companyNo("$1")} and hit_mail(h.campaign_no, h.seq) = hit_mail(m.campaign_no, m.seq)`;
