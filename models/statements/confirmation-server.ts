/** Selects the SMTP configuration that sends a company's confirmation mails. */
import { query } from "../database/db.ts";

/** SQL: the id, or null, for a company c: its own choice, else the default configuration, else the newest. */
export const CONFIRMATION_SERVER = `(select x.id from smtp_configs x where x.company_id = c.id
  order by x.id = c.default_smtp_config_id desc nulls last, x.is_default desc, x.id desc limit 1)`;

const ANY_SERVER = "select from smtp_configs where company_id = $1 limit 1";

/** Returns the reason why a company cannot send confirmations; undefined if it can. */
export async function noConfirmationServer(companyId: string): Promise<string | undefined> {
  return (await query(ANY_SERVER, [companyId])).length > 0
    ? undefined
    : "An SMTP configuration is needed to send confirmation mails. Create one first.";
}
