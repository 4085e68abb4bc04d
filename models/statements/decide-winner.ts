/**
 * The winner of a campaign's variants. Each recipient of the test is tried once; the time that the request gives runs from
 * then on, and at its end the variant with the most opens or clicks for each mail that was sent has won; of two alike the
 * first. The rest of the recipients stands in chunks that nobody looks at (`waiting`) until they are ready, all in the
 * transaction that writes who has won: a process that dies on the way leaves everything as it was, for any other.
 *
 * Only a campaign that is wholly written (`expanded_at`) is decided, under the lock of its row. So a slice of recipients, of
 * an expansion or a resume, comes before the decision or after it, and knows which.
 */
import type { WinnerMetric } from "../campaign-variant.ts";
import { type Client, query, queryOne } from "../database/db.ts";
import { SEND_CHUNK_STATE } from "../send-chunk.ts";
import { showVariant } from "./campaign-variants.ts";

/** SQL: nobody has won yet, and somebody will. */
export const awaitsWinner = (company: string, campaign: string): string =>
  `exists (select from campaign_winners w where w.company_id = ${company} and w.campaign_id = ${campaign} and w.winner is null)`;

const MAY_BE_DECIDED = "c.expanded_at is not null and c.error is null and c.deleted_at is null";

// A recipient that was deferred holds up nothing: greylisting may take longer than the test.
const BEGIN_WAITING = `
  update campaign_winners w set due_at = now() + w.after_minutes * interval '1 minute'
  from campaigns c
  where w.winner is null and w.due_at is null and c.company_id = w.company_id and c.id = w.campaign_id and ${MAY_BE_DECIDED}
    and not exists (select from send_chunks k
      where k.campaign_id = w.campaign_id and k.company_id = w.company_id and k.state = ${SEND_CHUNK_STATE.ready})
    and not exists (select from send_chunks k
      where k.company_id = w.company_id and k.campaign_id = w.campaign_id and k.state = ${SEND_CHUNK_STATE.leased})`;

const DUE = `
  select w.company_id, w.campaign_id
  from campaign_winners w join campaigns c on c.company_id = w.company_id and c.id = w.campaign_id
  where w.winner is null and w.due_at <= now() and ${MAY_BE_DECIDED}
  order by w.due_at limit 200`;

interface Undecided {
  company_id: string;
  campaign_id: string;
}

/** Those whose time has come. Tests that have just gone out begin to wait. */
export async function dueForDecision(): Promise<Undecided[]> {
  await query(BEGIN_WAITING);
  return query<Undecided>(DUE);
}

const HOLD = `
  select w.metric, c.individual_tracking from campaigns c join campaign_winners w on w.company_id = c.company_id and w.campaign_id = c.id
  where c.company_id = $1 and c.id = $2 and w.winner is null and w.due_at <= now() and ${MAY_BE_DECIDED}
  for no key update of c, w`;

/** Kept with the events, machines left out: the people who opened or clicked. */
const PEOPLE: Record<WinnerMetric, string> = { opens: "opened_unique_of_variant", clicks: "clicked_unique_of_variant" };
/** Where nobody knows who they were. */
const HITS: Record<WinnerMetric, string> = { opens: "opened_of_variant", clicks: "clicked_of_variant" };

const BEST = `
  select v.index
  from campaign_variants v cross join lateral (
    select coalesce(sum(k.n) filter (where k.metric = $3), 0) as hits,
      coalesce(sum(k.n) filter (where k.metric = 'sent_of_variant'), 0) as sent
    from campaign_counts k
    where k.company_id = $1 and k.campaign_id = $2 and k.metric in ('sent_of_variant', $3) and k.bucket = v.index) n
  where v.company_id = $1 and v.campaign_id = $2
  order by n.hits / greatest(n.sent, 1) desc, v.index limit 1`;

const RELEASE = `
  with decided as (
    update campaign_winners set winner = $3, decided_at = now() where company_id = $1 and campaign_id = $2)
  update send_chunks k set state = ${SEND_CHUNK_STATE.ready}
  where k.campaign_id = $2 and k.company_id = $1 and k.state = ${SEND_CHUNK_STATE.waiting}`;

/** Who has won; undefined where there is nothing to decide (any more). */
export async function decideWinner(
  client: Client,
  { company_id, campaign_id }: Undecided,
): Promise<number | undefined> {
  const key = [company_id, campaign_id];
  const held = await queryOne<{ metric: WinnerMetric; individual_tracking: boolean }>(HOLD, key, client);
  if (!held) return undefined;
  const countedAs = held.individual_tracking ? PEOPLE : HITS;
  const best = await queryOne<{ index: number }>(BEST, [...key, countedAs[held.metric]], client);
  const index = best!.index;
  await query(RELEASE, [...key, index], client);
  await showVariant(client, company_id, campaign_id, index);
  return index;
}

/** Of a campaign that is resumed: the test goes on, and is waited for anew. */
export const restartWait = (client: Client, companyId: string, campaignId: string) =>
  query(
    "update campaign_winners set due_at = null where company_id = $1 and campaign_id = $2 and winner is null",
    [companyId, campaignId],
    client,
  );
