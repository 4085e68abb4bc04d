/**
 * Counts who in a list or segment an email would reach now, and why others are skipped, by the rules of
 * write-audience-slice.ts. Beyond 50,000 people a sample is counted, chosen by a hash of the id: 10,000 give each share
 * to within one percentage point with 95 percent confidence.
 */
import { costlyRead } from "../../../models/database/bulk.ts";
import { type Client, query, queryOne } from "../../../models/database/db.ts";
import { subscriberAt } from "../../../models/database/row-at.ts";
import { limitStatements, withinTime } from "../../../models/database/within-time.ts";
import { Segment } from "../../../models/segment.ts";
import { segmentSql } from "../../../models/segment-rules/segment-sql.ts";
import { notSuppressed } from "../../../models/statements/not-suppressed.ts";
import { reachableStatuses } from "../../../models/statements/write-audience-slice.ts";
import type { SubscriberStatus } from "../../../models/subscriber.ts";

/** Up to this number everyone is counted. */
const MAX_EXACT = 50_000;
/** Sample size beyond that. */
const SAMPLE = 10_000;
/** Segments whose conditions take longer are sampled, too. */
const COUNT_MS = 2_000;
const SAMPLE_MS = 5_000;

export const LEFT_OUT = ["unconfirmed", "unsubscribed", "bounced", "complained", "suppressed"] as const;
type Reason = (typeof LEFT_OUT)[number];

interface AudienceCount {
  /** People of the list or segment. */
  total: number;
  /** People who would get the email. */
  recipients: number;
  leftOut: Record<Reason, number>;
  isEstimate: boolean;
}

interface CountedAudience {
  companyId: string;
  listId?: string | undefined;
  segmentId?: string | undefined;
  isTransactional: boolean;
  /** Default MAX_EXACT. */
  maxExact?: number;
}

interface People {
  /** SQL that selects their status and email_key; $1 is the company. */
  sql: string;
  values: unknown[];
  /** Total number before sampling. */
  all: number;
}

const countOf = async (client: Client, companyId: string, counter: string, ref: string): Promise<number> =>
  (await queryOne<{ n: number }>("select count_of($1, $2, $3) n", [companyId, counter, ref], client))!.n;

const partOf = (id: string, every: number) => (every === 1 ? "true" : `mod(uuid_hash(${id}), ${every}) = 0`);

const ofList = (every: number) => `
  select s.status, s.email_key from (
      select m.subscriber_id from list_members m
      where m.company_id = $1 and m.list_id = $2 and m.left_at is null and ${partOf("m.subscriber_id", every)} offset 0) m,
    lateral (${subscriberAt("$1", "m.subscriber_id", "r.status, r.email_key")}) s`;

// Prevents inlining, so that the conditions are evaluated for the sample only.
const ofSegment = (where: string, every: number) => `
  select s.status, s.email_key from (
      select * from subscribers where company_id = $1 and ${partOf("id", every)} offset 0) s
  where ${where}`;

/** Undefined if the list or segment does not exist. */
async function peopleOf(
  client: Client,
  { companyId, listId, segmentId }: CountedAudience,
): Promise<((every: number) => People) | undefined> {
  if (listId !== undefined) {
    const found = await query("select from lists where company_id = $1 and id = $2", [companyId, listId], client);
    if (found.length === 0) return undefined;
    const all = await countOf(client, companyId, "list_members", listId);
    return (every) => ({ sql: ofList(every), values: [companyId, listId], all });
  }
  const segment = await Segment.findOne({ attributes: ["rules"], where: { companyId, id: segmentId! } });
  if (!segment) return undefined;
  const { where, values } = segmentSql(segment.rules, companyId, 2);
  const all = await countOf(client, companyId, "subscribers", companyId);
  return (every) => ({ sql: ofSegment(where, every), values: [companyId, ...values], all });
}

interface StatusRow {
  status: SubscriberStatus;
  n: number;
  blocked: number;
}

const tally = (people: string, isTransactional: boolean) => `
  select p.status, count(*) n,
    count(*) filter (where not ${notSuppressed({ key: "p.email_key", company: "$1", transactional: String(isTransactional) })}) blocked
  from (${people}) p group by p.status`;

async function counted(
  client: Client,
  { sql, values }: People,
  { isTransactional }: CountedAudience,
  every: number,
): Promise<AudienceCount> {
  const rows = await query<StatusRow>(tally(sql, isTransactional), values, client);
  const reached = reachableStatuses("to_list", isTransactional);
  const leftOut = Object.fromEntries(LEFT_OUT.map((reason) => [reason, 0])) as Record<Reason, number>;
  let recipients = 0;
  for (const { status, n, blocked } of rows) {
    const isReached = reached.includes(status);
    if (isReached) recipients += (n - blocked) * every;
    if (isReached) leftOut.suppressed += blocked * every;
    else leftOut[status as Reason] += n * every;
  }
  const total = recipients + Object.values(leftOut).reduce((sum, n) => sum + n, 0);
  return { total, recipients, leftOut, isEstimate: every > 1 };
}

/** Undefined if the company has no such list or segment. */
export const countAudience = (asked: CountedAudience): Promise<AudienceCount | undefined> =>
  costlyRead(asked.companyId, async (client) => {
    const people = await peopleOf(client, asked);
    if (!people) return undefined;
    const { all } = people(1);
    const every = Math.max(2, Math.floor(all / SAMPLE));
    if (all <= (asked.maxExact ?? MAX_EXACT)) {
      const exact = await withinTime(client, COUNT_MS, () => counted(client, people(1), asked, 1));
      if (exact) return exact;
    }
    await limitStatements(client, SAMPLE_MS);
    return counted(client, people(every), asked, every);
  });
