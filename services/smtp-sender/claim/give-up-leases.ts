/** Answers another sender that found leases of this one expired (ask-owners.ts). */
import type { Batch } from "../delivery/batch.ts";
import type { LeasedChunk, RecordedResult } from "../delivery/recorded-result.ts";
import type { AskedLease, GivenUp, SerializedResult } from "./ask-owners.ts";

interface Held {
  owner: string;
  batches(): Iterable<Batch>;
  /** Chunks without a batch whose lease is being released. */
  ending: Iterable<LeasedChunk>;
  /** Results that may not have been written. */
  unwritten(): readonly RecordedResult[];
}

const isOf = (lease: AskedLease) => (chunk: LeasedChunk | null) =>
  chunk !== null && chunk.campaignId === lease.campaign_id && chunk.no === lease.no && chunk.fence === lease.fence;

const serialized = ({ chunk, by: _, permit: __, ...result }: RecordedResult): SerializedResult => ({
  ...result,
  no: chunk?.no ?? null,
});

type State = "settled" | "unsettled" | "not held";

function chunkState(lease: AskedLease, { batches, ending }: Held): State {
  const isAsked = isOf(lease);
  const batch = [...batches()].find(({ chunk }) => isAsked(chunk));
  const chunk = batch?.chunk ?? [...ending].find(isAsked);
  // A result could not be stored: only recovery may put its recipient in doubt.
  if (!chunk || chunk.abandonedTo !== undefined) return "not held";
  batch?.leaseLost();
  return batch && batch.handedOver > 0 ? "unsettled" : "settled";
}

/** A recipient claimed individually has only its result to report. */
function rowState({ campaign_id, seq, fence }: AskedLease, { batches }: Held): State {
  const batch = [...batches()].find(
    ({ campaign, source }) => campaign.campaign_id === campaign_id && source.holds(seq, fence),
  );
  batch?.leaseLost();
  return batch ? "unsettled" : "not held";
}

/** Stops handing over recipients of held leases, whatever the answer is. */
export function giveUpLeases(leases: readonly AskedLease[], held: Held): GivenUp {
  const states = leases.map(
    (lease) => [lease, lease.no === null ? rowState(lease, held) : chunkState(lease, held)] as const,
  );
  const answer: GivenUp = { owner: held.owner, settled: [], unsettled: [], results: [] };
  // Ready emails get their result here and return to the queue.
  const unwritten = held.unwritten();
  for (const [lease, state] of states) {
    const isAsked = isOf(lease);
    const results = unwritten.filter(({ chunk, campaignId, seq, attempts, copyNo }) =>
      lease.no === null
        ? chunk === null &&
          copyNo === null &&
          campaignId === lease.campaign_id &&
          seq === lease.seq &&
          attempts === lease.fence
        : isAsked(chunk),
    );
    const isSettled = lease.no === null ? results.length > 0 : state === "settled";
    if (isSettled) {
      answer.settled.push(lease);
      answer.results.push(...results.map(serialized));
    } else if (state === "unsettled") answer.unsettled.push(lease);
  }
  return answer;
}
