/** Tells why some of a few addresses get no email of a company; used before a test send. */
import { type Queryable, query } from "../../../models/database/db.ts";
import { subscriberOf } from "../../../models/database/row-at.ts";
import { erasedAmong } from "../../../models/statements/erased-addresses.ts";
import { SUPPRESSION_SENTENCES } from "../../../models/suppression.ts";

const BLOCKED = `
  select a.email, coalesce(blocked_by($1, a.email), s.status) as kind
  from unnest($2::text[]) a (email)
  left join lateral (${subscriberOf("$1", "address_key(a.email)", "r.status")}) s
    on s.status in ('unsubscribed', 'bounced', 'complained')`;

/** Returns a sentence for each address that is suppressed, unsubscribed or erased. */
export async function suppressedAmong(
  companyId: string,
  emails: readonly string[],
  client?: Queryable,
): Promise<Map<string, string>> {
  const erased = await erasedAmong(companyId, emails, client);
  const rows = await query<{ email: string; kind: string | null }>(BLOCKED, [companyId, emails], client);
  const sentences = rows
    .filter(({ kind }) => kind !== null)
    .map(({ email, kind }) => [email, SUPPRESSION_SENTENCES[kind!]!] as const);
  return new Map([...sentences, ...[...erased].map((email) => [email, SUPPRESSION_SENTENCES.erased!] as const)]);
}
