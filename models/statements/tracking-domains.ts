/** Which company a host belongs to, which host a company's mails link to, and which of them are due to be looked at. */
import { query, queryOne } from "../database/db.ts";

/** Who asked for a host and does not prove it within this time must give way to somebody else. */
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

// Marked before it is looked at: of several nodes one looks at each.
const DUE = `
  update tracking_domains t set checked_at = now()
  where company_id in (
    select company_id from tracking_domains
    where checked_at is null
      or checked_at < now() - case when proved_at is null and claimed_at > now() - interval '${CLAIM_DAYS} days'
        then interval '45 seconds' else interval '1 hour' end
    order by checked_at nulls first limit $1 for update skip locked)
  returning company_id, domain, token, proved_at is not null as is_active`;

/** Young claims are due each minute; those in use, and those that nobody proves, each hour. */
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

/** False where the claim was changed meanwhile. */
export const markProved = (claim: Claim): Promise<boolean> => wrote(PROVED, claim);

/** True where it is not used any more from now on. */
export const markLost = (claim: Claim): Promise<boolean> => wrote(LOST, claim);

/** For the claim of somebody else: one that nobody proved in time is no claim any more. */
export const FORGET_STALE = `
  delete from tracking_domains
  where domain = $1 and company_id <> $2 and proved_at is null and claimed_at < now() - interval '${CLAIM_DAYS} days'`;
