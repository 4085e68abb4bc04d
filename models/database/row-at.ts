/**
 * Selects the row with a two-column key, as a subquery (for LATERAL or a value) that only the index on exactly these
 * columns can serve. With a plain `k1 = … and k2 = …` the planner may use any index that begins with k1 (a company)
 * while it believes that the table is tiny, which it does until the table is analysed again: then it reads thousands of
 * rows for each one wanted.
 *
 * An upper bound of the range would be slightly cheaper, but makes the planner expect so few rows that any index looks
 * good again.
 */
function rowAt(given: {
  table: string;
  key: readonly [string, string];
  at: readonly [string, string];
  /** SQL over the alias `r`. */
  columns: string;
  /** The condition of a partial index. */
  where?: string;
}): string {
  const { table, columns, where } = given;
  const [k1, k2] = given.key;
  const [v1, v2] = given.at;
  return `select ${columns} from (
    select * from ${table} where (${k1}, ${k2}) >= (${v1}, ${v2})${where ? ` and ${where}` : ""} order by ${k1}, ${k2} limit 1
  ) r where r.${k1} = ${v1} and r.${k2} = ${v2}`;
}

export const subscriberAt = (company: string, id: string, columns: string): string =>
  rowAt({ table: "subscribers", key: ["company_id", "id"], at: [company, id], columns });

export const subscriberOf = (company: string, emailKey: string, columns: string): string =>
  rowAt({ table: "subscribers", key: ["company_id", "email_key"], at: [company, emailKey], columns });

/**
 * Selects one subscriber's memberships, for FROM. Looked up by subscriber only: the index of the whole key begins with
 * the company, and the planner would prefer it if it expects few rows of the company.
 */
export const listMembersOf = (id: string): string =>
  `(select * from list_members where subscriber_id = ${id} offset 0)`;

const suppressionBy =
  (column: "email_key" | "domain") =>
  (company: string, value: string, columns: string): string =>
    rowAt({
      table: "suppressions",
      key: ["company_id", column],
      at: [company, value],
      columns,
      where: `${column} is not null`,
    });

/** The suppression of the address itself; `suppressedDomainAt` finds that of one domain, and blocked_by both. */
export const suppressionAt = suppressionBy("email_key");
export const suppressedDomainAt = suppressionBy("domain");
