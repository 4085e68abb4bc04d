/** Describes a campaign's outcome in words. The API's status is `partial` for a single dead mailbox, where no retry helps. */
import type { ReturnsOf } from "../../contracts.ts";
import { messages } from "../messages.ts";
import { formatted } from "../render.ts";
import { type CompanyVisit, callUnder } from "../request.ts";
import { dateInWords, lengthOf } from "../times.ts";

type Campaign = ReturnsOf<"campaigns.list">["results"][number];
type Analytics = ReturnsOf<"tracking.analytics">;

const t = messages.campaigns;

/** Larger numbers are not counted exactly. */
const MAX_COUNTED = 10_000;

/** Number of recipients to whom a resume would send, by campaign. */
async function retryableOf(visit: CompanyVisit, campaigns: readonly Campaign[], atMost: number) {
  const ids = campaigns.filter(({ status }) => status === "partial" || status === "failed").map(({ id }) => id);
  const found = ids.length === 0 ? [] : await callUnder(visit, "campaigns.retryable", { ids, at_most: atMost });
  return new Map(found.map(({ id, count }) => [id, count]));
}

export async function retryableIn(visit: CompanyVisit, campaign: Campaign): Promise<number> {
  const count = (await retryableOf(visit, [campaign], MAX_COUNTED + 1)).get(campaign.id) ?? 0;
  return count > MAX_COUNTED ? campaign.failed_count : count;
}

type State = keyof typeof t.states;

const stateOf = ({ status }: Campaign, retryable: number): State =>
  status === "partial" && retryable === 0 ? "completed" : status;

/** Whether only its A/B test was sent, or is being sent, and the other recipients wait for the winner. */
const isTesting = ({ status, winner }: Campaign): boolean =>
  (status === "pending" || status === "sending") && winner !== null && winner.decided_at === null;

/** Begins the text of this wait in CAMPAIGN_ERROR (models/campaign.ts); change both together. */
const WAITS_FOR_WINNER = /^Waiting for the winner /;

/** Explains the state of one campaign. The API reports the wait for a winner as an error, which it is not. */
export function meaningOf(campaign: Campaign, retryable: number, zone: string) {
  const state = stateOf(campaign, retryable);
  const { winner, error } = campaign;
  const meaning = state === "partial" ? t.unsent(retryable, formatted(retryable)) : t.meanings[state];
  if (!winner || !isTesting(campaign)) return { meaning, error };
  const { due_at: due, after_minutes } = winner;
  return {
    meaning: due === null ? t.testing.later(lengthOf(after_minutes * 60_000)) : t.testing.due(dateInWords(due, zone)),
    error: WAITS_FOR_WINNER.test(error ?? "") ? null : error,
  };
}

/** Adds each campaign's state to the rows of a list. */
export async function withStates(visit: CompanyVisit, campaigns: readonly Campaign[]) {
  const retryable = await retryableOf(visit, campaigns, 1);
  return campaigns.map((campaign) => {
    const state = stateOf(campaign, retryable.get(campaign.id) ?? 0);
    return { ...campaign, state, words: isTesting(campaign) ? t.testing.badge : t.states[state] };
  });
}

/** Describes the state of one campaign and, once it has ended, its numbers: "Sent: 9 delivered, 1 bounced". */
export function outcomeOf(campaign: Campaign, { delivered, bounced }: Analytics, retryable: number) {
  const state = stateOf(campaign, retryable);
  if (isTesting(campaign)) return { state, words: t.testing.badge };
  if (!["completed", "partial", "failed"].includes(state)) return { state, words: t.states[state] };
  // A recipient whose server blocked the sender counts as bounced in the analytics but can be retried.
  const final = Math.max(0, campaign.total_emails - delivered - retryable);
  const lost = Math.min(bounced, final);
  const parts = Object.entries({ delivered, bounced: lost, retryable, skipped: final - lost }).filter(([, n]) => n > 0);
  const words = parts.map(([name, n]) => t.outcomes[name as keyof typeof t.outcomes](formatted(n)));
  return { state, words: [t.states[state], words.join(", ")].filter((text) => text !== "").join(": ") };
}
