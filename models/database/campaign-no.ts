/**
 * SQL: the number of a campaign, by which its recipients are found (sent_emails.campaign_no). It is looked up with the
 * company, once per statement, so that no row of another company can be reached; PostgreSQL reads the one part that has it.
 */
export const campaignNo = (campaign: string, company: string): string =>
  `(select no from campaigns where id = ${campaign} and company_id = ${company})`;
