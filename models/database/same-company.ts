/**
 * SQL: "belongs to the company", for rows of sent_email_copies and email_events found by their mail, written so that no
 * index can serve it. With `=`, a plan made while the table is nearly empty may use an index that begins with the
 * company, and then reads the whole company for each row.
 */
export const sameCompany = (left: string, right: string): string => `${left} is not distinct from ${right}`;
