/**
 * Counts sign-ups that a public form's hidden field rejected: mostly bots, but also people whose password manager
 * filled it in.
 */
import { query, queryOne } from "../../models/database/db.ts";

export const countDropped = (companyId: string) =>
  query(
    `insert into dropped_sign_ups as d (company_id) values ($1)
     on conflict (company_id) do update set count = d.count + 1, last_at = now()`,
    [companyId],
  );

export const droppedSignUps = (companyId: string) =>
  queryOne<{ count: number; last_at: Date }>(
    "select count::float8 as count, last_at from dropped_sign_ups where company_id = $1",
    [companyId],
  );
