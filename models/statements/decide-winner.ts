/**
 * Decides the winner of a campaign's variants. Each recipient of the test is tried once; then the requested time
 * starts, and at its end the variant with the most opens or clicks per sent email wins; the first of two equal ones. The
 * other recipients are in chunks that senders ignore (`waiting`) until the transaction that writes the winner makes
 * them ready: a process that dies before changes nothing, and any other can repeat it.
 *
 * Only a fully expanded campaign (`expanded_at`) is decided, under its row lock, so that a slice of an expansion or
 * resume is either before or after the decision.
 */
import type { WinnerMetric } from "../campaign-variant.ts";
import { type Client, query, queryOne } from "../database/db.ts";
import { SEND_CHUNK_STATE } from "../send-chunk.ts";
import { showVariant } from "./campaign-variants.ts";

/** SQL: true if the winner is still to be decided. */
export const awaitsWinner = (company: string, campaign: string): string =>
  `exists (select from campaign_winners w where w.company_id = ${company} and w.campaign_id = ${campaign} and w.winner is null)`;

const MAY_BE_DECIDED = "c.expanded_at is not null and c.error is null and c.deleted_at is null";

// Deferred recipients do not delay the decision: greylisting may take longer than the test.
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

/** Returns campaigns due for a decision. Starts the waiting time of tests that have just been sent. */
export async function dueForDecision(): Promise<Undecided[]> {
  await query(BEGIN_WAITING);
  return query<Undecided>(DUE);
}

const HOLD = `
  select w.metric, c.individual_tracking from campaigns c join campaign_winners w on w.company_id = c.company_id and w.campaign_id = c.id
  where c.company_id = $1 and c.id = $2 and w.winner is null and w.due_at <= now() and ${MAY_BE_DECIDED}
  for no key update of c, w`;

/** Counters of people (not machines) who opened or clicked. */
const PEOPLE: Record<WinnerMetric, string> = { opens: "opened_unique_of_variant", clicks: "clicked_unique_of_variant" };
/** Used if recipients are unknown. */
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

/** Decides the winner; undefined if there is nothing to decide. */
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

/** Restarts the waiting time of a resumed campaign, whose test continues. */
export const restartWait = (client: Client, companyId: string, campaignId: string) =>
  query(
    "update campaign_winners set due_at = null where company_id = $1 and campaign_id = $2 and winner is null",
    [companyId, campaignId],
    client,
  );
