import { suppressedDomainAt, suppressionAt } from "../database/row-at.ts";
import type { SuppressionKind } from "../suppression.ts";

/** Why an address gets no mail, as SQL gives it. */
export interface SuppressionRow {
  kind: SuppressionKind;
  /** Time as in JSON. */
  created_at: string;
}

/** False for companies without a suppressed domain: then the address's domains are not taken apart. */
const ANY_DOMAIN = `s.company_id = (
  select company_id from suppressions where (company_id, domain) >= (s.company_id, '') and domain is not null
  order by company_id, domain limit 1)`;

/**
 * SQL: the suppression of the subscriber `s` as JSON, or null; including suppressions of the domain. If there are
 * several, the one that blocked_by() names. With the key's own collation, which domains_of() passes on, PostgreSQL could
 * not use the index on domains.
 */
export const SUPPRESSION_OF = `(
  select json_build_object('kind', b.kind, 'created_at', b.created_at) from (
    (${suppressionAt("s.company_id", "s.email_key", "r.kind, r.created_at")})
    union all
    select x.kind, x.created_at from unnest(domains_of(s.email_key)) d,
      lateral (${suppressedDomainAt("s.company_id", '(d collate "default")', "r.kind, r.created_at")}) x
    where ${ANY_DOMAIN}) b
  order by b.kind = 'unsubscribed', b.created_at limit 1)`;
