/**
 * Whose slice is next. Two lanes run side by side, so that a list of a million never holds up a receipt: campaigns with
 * inline receivers and transactional ones in one, the other lists in the other; within a lane each campaign gets one
 * slice a round. The first slice of a new campaign does not wait for a lane at all.
 */
import type { ServiceBroker } from "moleculer";
import { query } from "../../models/database/db.ts";
import { atMost } from "./at-most.ts";
import { expandSlice, giveUp } from "./expand.ts";

type Lane = "quick" | "bulk";

/** Connections that a lane holds at most; the process's pool serves the API, too. */
const AT_ONCE: Record<Lane, number> = { quick: 2, bulk: 1 };
const FIRST_SLICES_AT_ONCE = 2;
/** A run of the repeating action ends after this time and goes on with the next. */
const MAX_RUN_MS = 10_000;

const WAITING = `select id from campaigns
  where expanded_at is null and status in ('pending', 'sending')
    and (campaign_type <> 'to_list' or is_transactional) = $1
  order by is_transactional desc, id limit 200`;

async function runLane(broker: ServiceBroker, lane: Lane, until: number): Promise<number> {
  const leaveOff = () => broker.stopping || Date.now() > until;
  const slot = atMost(AT_ONCE[lane]);
  const turn = async (id: string) => !leaveOff() && (await expandOne(broker, id)) !== "nothing";
  let slices = 0;
  for (;;) {
    const waiting = await query<{ id: string }>(WAITING, [lane === "quick"]);
    const turns = await Promise.all(waiting.map(({ id }) => slot(() => turn(id))));
    const written = turns.filter(Boolean).length;
    slices += written;
    // Nothing written: all is done, or other nodes are at what is left.
    if (written === 0 || leaveOff()) return slices;
  }
}

/** SQLSTATE classes 22 and 42: the statement or its data are at fault, and will be the next time, too. */
const isHopeless = (error: unknown) => /^(22|42)[0-9A-Z]{3}$/.test(String((error as { code?: unknown }).code));

/** A campaign whose slice fails must not keep the others from theirs. It is tried again, unless that is in vain. */
async function expandOne(broker: ServiceBroker, campaignId: string) {
  try {
    return await expandSlice(broker, campaignId);
  } catch (error) {
    broker.logger.error(`Recipients of campaign ${campaignId} could not be written: ${(error as Error).message}`);
    if (isHopeless(error)) await giveUp(broker, campaignId);
    return "nothing";
  }
}

let running: Promise<number> | undefined;
let askedAgain = false;

async function runLanes(broker: ServiceBroker): Promise<number> {
  const until = Date.now() + MAX_RUN_MS;
  let slices = 0;
  do {
    askedAgain = false;
    const [quick, bulk] = await Promise.all([runLane(broker, "quick", until), runLane(broker, "bulk", until)]);
    slices += quick + bulk;
  } while (askedAgain && !broker.stopping && Date.now() < until);
  return slices;
}

/**
 * All waiting campaigns in turns; returns the number of slices written. A second call while a run is under way joins it,
 * and lets it look once more at its end: it may have been past the campaign that this call is about.
 */
export function expandWaiting(broker: ServiceBroker): Promise<number> {
  askedAgain = true;
  running ??= runLanes(broker).finally(() => {
    running = undefined;
  });
  return running;
}

const firstSlice = atMost(FIRST_SLICES_AT_ONCE);

/** A campaign has just become pending: its first slice now, the rest in turns. */
export async function expandNow(broker: ServiceBroker, campaignId: string): Promise<void> {
  const outcome = await firstSlice(() => expandOne(broker, campaignId));
  if (outcome === "more") await expandWaiting(broker);
}
