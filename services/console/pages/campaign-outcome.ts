/** Describes a campaign's outcome in words. The API's status is `partial` for a single dead mailbox, where no retry helps. */
import type { ReturnsOf } from "../../contracts.ts";
import { messages } from "../messages.ts";
import { formatted } from "../render.ts";
import { type CompanyVisit, callUnder } from "../request.ts";

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

/** Adds each campaign's state to the rows of a list. */
export async function withStates(visit: CompanyVisit, campaigns: readonly Campaign[]) {
  const retryable = await retryableOf(visit, campaigns, 1);
  return campaigns.map((campaign) => ({ ...campaign, state: stateOf(campaign, retryable.get(campaign.id) ?? 0) }));
}

/** Describes the state of one campaign and, once it has ended, its numbers: "Sent: 9 delivered, 1 bounced". */
export function outcomeOf(campaign: Campaign, { delivered, bounced }: Analytics, retryable: number) {
  const state = stateOf(campaign, retryable);
  if (!["completed", "partial", "failed"].includes(state)) return { state, words: t.states[state] };
  // A recipient whose server blocked the sender counts as bounced in the analytics but can be retried.
  const final = Math.max(0, campaign.total_emails - delivered - retryable);
  const lost = Math.min(bounced, final);
  const parts = Object.entries({ delivered, bounced: lost, retryable, skipped: final - lost }).filter(([, n]) => n > 0);
  const words = parts.map(([name, n]) => t.outcomes[name as keyof typeof t.outcomes](formatted(n)));
  return { state, words: [t.states[state], words.join(", ")].filter((text) => text !== "").join(": ") };
}
