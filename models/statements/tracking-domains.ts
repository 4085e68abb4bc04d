/** Maps tracking hosts to companies and back, and selects the domains to check. */
import { query, queryOne } from "../database/db.ts";

/** A claim of a host that is not verified within this time no longer blocks others. */
const CLAIM_DAYS = 7;
/** Proof that was lost for longer ends the use of a host: shorter is a name server's or a web server's bad day. */
const LOST_HOURS = 24;

interface TrackingHost {
  company_id: string;
  token: string;
  is_active: boolean;
}

const OF_HOST = `
  select t.company_id, t.token, t.proved_at is not null as is_active
  from tracking_domains t join companies c on c.id = t.company_id and c.deleted_at is null
  where t.domain = $1`;

export const trackingHost = (domain: string): Promise<TrackingHost | undefined> => queryOne(OF_HOST, [domain]);

/** Also joined where a campaign's content is read (services/renderer/campaign-rows.ts), and for previews. */
export async function activeTrackingDomain(companyId: string): Promise<string | null> {
  const sql = "select domain from tracking_domains where company_id = $1 and proved_at is not null";
  return (await queryOne<{ domain: string }>(sql, [companyId]))?.domain ?? null;
}

export interface Claim {
  company_id: string;
  domain: string;
  token: string;
  is_active: boolean;
}

// Marked before the check, so that only one node checks each.
const DUE = `
  update tracking_domains t set checked_at = now()
  where company_id in (
    select company_id from tracking_domains
    where checked_at is null
      or checked_at < now() - case when proved_at is null and claimed_at > now() - interval '${CLAIM_DAYS} days'
        then interval '45 seconds' else interval '1 hour' end
    order by checked_at nulls first limit $1 for update skip locked)
  returning company_id, domain, token, proved_at is not null as is_active`;

/** New claims are due every minute; active and unverified old ones every hour. */
export const dueClaims = (limit: number): Promise<Claim[]> => query(DUE, [limit]);

const PROVED = `
  update tracking_domains set checked_at = now(), proved_at = now() where company_id = $1 and domain = $2 and token = $3
  returning company_id`;
const LOST = `
  update tracking_domains set proved_at = null, claimed_at = now()
  where company_id = $1 and domain = $2 and token = $3 and proved_at < now() - interval '${LOST_HOURS} hours'
  returning company_id`;

const wrote = async (sql: string, { company_id, domain, token }: Claim): Promise<boolean> =>
  (await queryOne(sql, [company_id, domain, token])) !== undefined;

/** False if the claim has changed. */
export const markProved = (claim: Claim): Promise<boolean> => wrote(PROVED, claim);

/** True if it is not used any more from now on. */
export const markLost = (claim: Claim): Promise<boolean> => wrote(LOST, claim);

/** Deletes expired, unverified claims, for a new claim of the host. */
export const FORGET_STALE = `
  delete from tracking_domains
  where domain = $1 and company_id <> $2 and proved_at is null and claimed_at < now() - interval '${CLAIM_DAYS} days'`;
