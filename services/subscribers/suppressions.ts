/** Suppressions as API resources. Whether one blocks an address: models/statements/not-suppressed.ts. */
import { domainToUnicode } from "node:url";
import { query, queryOne, transaction } from "../../models/database/db.ts";
import { fromRow } from "../../models/database/from-row.ts";
import { isOneOf, listModels } from "../../models/database/listing.ts";
import { ERASED_IS_SUPPRESSED, isErased } from "../../models/statements/erased-addresses.ts";
import { SAMPLE_DOMAIN } from "../../models/statements/sample-people.ts";
import { Suppression, type SuppressionKind } from "../../models/suppression.ts";
import { addressText, asciiDomain } from "../lib/address.ts";
import { type FieldErrors, invalid, notFound, wrongState } from "../lib/errors.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { IS_STRONGER, RESTRICT_SUBSCRIBERS } from "./suppress.ts";

/** Must match the expression of the index. */
const SEARCHED_TEXT = "(coalesce(x.email, x.domain) || ' ' || coalesce(x.domain_unicode, ''))";

const COLUMNS = "x.id, x.email, x.domain, x.kind, x.reason, x.created_at";

interface GivenSuppression {
  email?: string | null;
  domain?: string | null;
  reason?: string;
  kind?: SuppressionKind;
}

/** Accepts `@example.org` and `*.example.org` for a domain. */
export const bareDomain = (domain: string) => asciiDomain(domain.trim().replace(/^(?:\*\.|@)/, ""));

export function suppressionErrors(
  given: GivenSuppression,
  isValid: (field: "email" | "domain") => boolean,
): FieldErrors {
  const hasEmail = given.email !== undefined && given.email !== null;
  const hasDomain = given.domain !== undefined && given.domain !== null;
  if (hasEmail === hasDomain) return { non_field_errors: ["Give exactly one of email and domain."] };
  if (hasDomain && isValid("domain") && !bareDomain(given.domain!)) return { domain: ["Enter a valid domain."] };
  return {};
}

// Returns an existing suppression, strengthened if the given kind is stronger.
const RETURN_EXISTING = `do update set
    kind = case when ${IS_STRONGER} then excluded.kind else x.kind end,
    reason = coalesce(nullif(excluded.reason, ''), x.reason)
  returning ${COLUMNS}`;

const BLOCK_EMAIL = `
  with restricted as (${RESTRICT_SUBSCRIBERS("(select address_key($2) as email_key, $4 as kind)")})
  insert into suppressions as x (company_id, email, reason, kind) values ($1, $2, $3, $4)
  on conflict (company_id, email_key) where email_key is not null ${RETURN_EXISTING}`;

const BLOCK_DOMAIN = `
  insert into suppressions as x (company_id, domain, reason, kind, domain_unicode) values ($1, $2, $3, $4, $5)
  on conflict (company_id, domain) where domain is not null ${RETURN_EXISTING}`;

async function upsert(sql: string, values: unknown[]) {
  return fromRow(Suppression, (await queryOne(sql, values))!).view();
}

export async function suppress(companyId: string, given: GivenSuppression) {
  const { reason = "", kind = "manual" } = given;
  if (given.email) {
    if (await isErased(companyId, given.email)) throw invalid({ email: [ERASED_IS_SUPPRESSED] });
    return upsert(BLOCK_EMAIL, [companyId, addressText(given.email), reason, kind]);
  }
  const domain = bareDomain(given.domain!)!;
  const unicode = domainToUnicode(domain);
  return upsert(BLOCK_DOMAIN, [companyId, domain, reason, kind, unicode === domain ? null : unicode]);
}

export async function getSuppression(companyId: string, id: string) {
  const suppression = await Suppression.findOne({ where: { companyId, id } });
  if (!suppression) throw notFound();
  return suppression.view();
}

const REENABLE = `
  update subscribers set status = 'active', soft_bounces = 0, updated_at = now()
  where company_id = $1 and email_key = address_key($2) and status in ('unsubscribed', 'bounced', 'complained')`;

/** Removes a suppression and resets the subscriber's status, which would still prevent sending. */
export function liftSuppression(companyId: string, id: string): Promise<null> {
  return transaction(async (client) => {
    const [row] = await query<{ email: string | null; domain: string | null }>(
      "delete from suppressions where company_id = $1 and id = $2 returning email, domain",
      [companyId, id],
      client,
    );
    if (!row) throw notFound();
    if (row.domain === SAMPLE_DOMAIN) throw wrongState("It goes with the sample data. Remove that instead.");
    if (row.email) await client.query(REENABLE, [companyId, row.email]);
    return null;
  });
}

export async function listSuppressions(
  companyId: string,
  asked: ListQuery & { kind?: SuppressionKind | SuppressionKind[] },
) {
  const values: unknown[] = [companyId];
  const listing = {
    from: "suppressions x",
    columns: COLUMNS,
    where: ["x.company_id = $1", ...(asked.kind ? [isOneOf("x.kind", asked.kind, values)] : [])],
    values,
    id: "x.id",
    orderings: { email: "coalesce(x.email_key, '')", domain: "coalesce(x.domain, '')" },
    searchIn: [SEARCHED_TEXT],
    large: true,
    counter: [companyId, "suppressions", companyId] as [string, string, string],
    filtered: Boolean(asked.kind),
  };
  const { results, ...page } = await listModels(Suppression, listing, asked);
  return { ...page, results: results.map((suppression) => suppression.view()) };
}
