/**
 * The mails of an address, as a condition over sent_emails: by its subscriber, plus those that had none. The table has no
 * index on the address (a million random keys per campaign), but the subscriber's ids come in order.
 */
export const ofRecipient = (alias: string, company: string, address: string) => `(
  ${alias}.subscriber_id = (select id from subscribers where company_id = ${company} and email_key = lower(${address}))
  or (${alias}.company_id = ${company} and ${alias}.subscriber_id is null and lower(${alias}.email) = lower(${address})))`;
