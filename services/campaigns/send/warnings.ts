/** What a sender should know of a send that is accepted all the same, in sentences. */
import { type Queryable, queryOne } from "../../../models/database/db.ts";
import { config } from "../../lib/config.ts";
import { isLocalHost, isLoopbackHost } from "../../lib/ssrf/local-host.ts";

/** Costs a statement only where BASE_URL is this machine. */
export async function sendWarnings(companyId: string, smtpConfigId: string, on?: Queryable): Promise<string[]> {
  const { BASE_URL } = config();
  if (!isLoopbackHost(new URL(BASE_URL).hostname)) return [];
  const server = await queryOne<{ host: string }>(
    "select host from smtp_configs where company_id = $1 and id = $2",
    [companyId, smtpConfigId],
    on,
  );
  if (!server || isLocalHost(server.host)) return [];
  return [
    `The links of these mails, the one to unsubscribe included, begin with ${BASE_URL} and open only on the machine of this service. Set BASE_URL to its public address.`,
  ];
}
