/**
 * SQL: number of a campaign, by which its recipients are found (sent_emails.campaign_no). Looked up with the company
 * once per statement, so that no other company's rows can be reached; PostgreSQL reads only the partition that contains
 * it.
 */
export const campaignNo = (campaign: string, company: string): string =>
  `(select no from campaigns where id = ${campaign} and company_id = ${company})`;

/**
 * SQL: `column = value` for the key of a partitioned table in a statement that locks rows (`for update`), written so
 * that no partition is pruned at run time. If a locked row was changed concurrently, PostgreSQL 18 (until 18.4; fixed
 * in October 2026) rechecks it and then reads freed memory to decide which partitions the rest of the statement needs:
 * the backend crashes, and the database restarts. An operand that is not known to be an array's element prevents this,
 * and indexes of each partition still serve it. $1 and other parameters need none of this: they are known before the
 * statement runs.
 */
export const inAnyPart = (column: string, value: string): string => `${column} = any (array_fill(${value}, '{1}'))`;
