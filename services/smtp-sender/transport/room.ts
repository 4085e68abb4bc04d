/**
 * How many recipients a lane may prepare. What a relay holds follows what it gets done: two for each connection (one being
 * answered, one behind it), and what it recorded within the last moments. Campaigns have equal parts of it; transactional
 * mail waits for none of the others. In groups, because each costs two statements.
 */
import type { BatchDelivery } from "../delivery/batch-delivery.ts";

export const MAX_GROUP = 100;
/** Fewer are worth no statement while others are ready. */
const GROUPS_IN_PART = 4;

export interface Hold {
  window: number;
  /** Of the window, by all lanes. */
  held: number;
  campaigns: number;
  /** And nothing is ready for it. */
  connectionIdle: boolean;
}

/** Chunks of a campaign one after the other, so that the second is whole when the first one ends. */
const waitsForChunkBefore = ({ previous: before }: BatchDelivery): boolean =>
  before?.state === "open" && !before.source.exhausted;

export function roomFor(lane: BatchDelivery, { window, held, campaigns, connectionIdle }: Hold): number {
  if (lane.ready.length >= MAX_GROUP || waitsForChunkBefore(lane)) return 0;
  const part = Math.ceil(window / campaigns);
  const urgent = lane.campaign.is_transactional;
  const room = urgent ? window - lane.unrecorded : Math.min(window - held, part - lane.unrecorded);
  const starving = connectionIdle || (urgent && lane.ready.length === 0);
  const group = starving ? 1 : Math.max(1, Math.floor(part / GROUPS_IN_PART));
  return room < group ? 0 : Math.min(room, MAX_GROUP);
}
