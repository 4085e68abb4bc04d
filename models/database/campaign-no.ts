/**
 * SQL: the number of a campaign, by which its recipients are found (sent_emails.campaign_no). It is looked up with the
 * company, once per statement, so that no row of another company can be reached; PostgreSQL reads the one part that has it.
 */
export const campaignNo = (campaign: string, company: string): string =>
  `(select no from campaigns where id = ${campaign} and company_id = ${company})`;

/**
 * SQL: `column = value` for the key of a partitioned table, in a statement that locks rows as well (`for update`): no part is
 * left out while it runs. Where a locked row was changed by somebody else, PostgreSQL 18 (to 18.4; mended in October 2026)
 * looks at it once more, and afterwards asks freed memory which parts the rest of the statement needs: the backend crashes, and
 * the whole database restarts. Only an operand that it does not know as an array's elements keeps it from doing so, and indexes
 * serve it all the same, each part's. $1 and its like need none of this: they are known before the statement runs.
 */
export const inAnyPart = (column: string, value: string): string => `${column} = any (array_fill(${value}, '{1}'))`;
