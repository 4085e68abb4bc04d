/**
 * For rows of sent_email_copies and email_events that are found by their mail: "and it belongs to that company", in a form that
 * no index can serve. With `=` the planner may take an index that begins with the company when the table is nearly empty while
 * the plan is made, and reads the whole company for each row ever after.
 */
export const sameCompany = (left: string, right: string): string => `${left} is not distinct from ${right}`;
