/**
 * How many lanes a node opens, and for whom. What a lane holds is little, but not nothing, so there are only so many; and a
 * server that answers late, or may be given one mail a second, keeps its lanes for a long time. None of that may cost the
 * others:
 *
 * - a relay gets no more newsletters than keep it busy;
 * - a company that has no lane here gets one, also when the others have all there should be;
 * - transactional mail gets one always.
 */

import type { Turn } from "../delivery/rows.ts";
import type { Relay } from "../transport/smtp-transport.ts";
import type { Relays } from "../transport/smtp-transports.ts";

/** Of one relay, whatever it gets done: its campaigns go side by side. */
const SIDE_BY_SIDE = 10;
/** All lanes, when each more is the first one of its company. */
const AT_MOST = 5;

export type Kind = "chunk" | "retries";

/** Made for one round of claiming. */
export class LaneRoom {
  #kind: Kind;
  #soft: number;
  #lanes = 0;
  #companies = new Set<string>();
  /** How many more newsletters each relay may get. */
  #wanted = new Map<Relay, number>();

  constructor(relays: Relays, kind: Kind, maxLanes: number) {
    this.#kind = kind;
    this.#soft = maxLanes;
    for (const { turn } of relays.lanes()) {
      this.#lanes++;
      this.#companies.add(turn.company_id);
    }
    for (const relay of relays.all) this.#wanted.set(relay, this.#wantedBy(relay));
  }

  #wantedBy({ lanes, connections, pulse }: Relay): number {
    let held = 0;
    let left = 0;
    for (const lane of lanes) {
      if (lane.turn.is_transactional || (lane.chunk === null) !== (this.#kind === "retries")) continue;
      held++;
      left += Math.max(1, lane.left);
    }
    if (held < SIDE_BY_SIDE) return SIDE_BY_SIDE - held;
    // A lane may bring no more than one recipient. Those of the next fifth of a second, as with chunks that are read ahead.
    return connections.size === 0 ? 0 : Math.max(2 * connections.size, 4 * pulse.recent) - left;
  }

  /** SMTP configurations that get no newsletters for now. */
  get supplied(): string[] {
    return [...this.#wanted].flatMap(([{ config }, wanted]) => (wanted <= 0 ? [config.id] : []));
  }

  /** Asked before the relay is known: reading its configuration is worth it. */
  mayServe({ company_id, is_transactional }: Turn): boolean {
    if (is_transactional || this.#lanes < this.#soft) return true;
    return !this.#companies.has(company_id) && this.#lanes < AT_MOST * this.#soft;
  }

  /** Takes the room for a lane, where there is room. */
  admit({ company_id, is_transactional }: Turn, relay: Relay): boolean {
    const wanted = this.#wanted.get(relay) ?? SIDE_BY_SIDE;
    if (!is_transactional && wanted <= 0) return false;
    if (!is_transactional) this.#wanted.set(relay, wanted - 1);
    this.#lanes++;
    this.#companies.add(company_id);
    return true;
  }
}
