/**
 * How many lanes a node opens, and for whom. What a lane holds is little, but not nothing, so there are only so many; and a
 * server that answers late, or may be given one mail a second, keeps its lanes for a long time. None of that may cost the
 * others:
 *
 * - a relay gets no more newsletters than keep it busy;
 * - a company that has no lane here gets one, also when the others have all there should be;
 * - transactional mail gets one always.
 */

import type { ClaimableCampaign } from "../delivery/rows.ts";
import type { SmtpTransport } from "../transport/smtp-transport.ts";
import type { SmtpTransports } from "../transport/smtp-transports.ts";

/** Of one relay, whatever it gets done: its campaigns go side by side. */
const MIN_BATCHES_PER_TRANSPORT = 10;
/** All lanes, when each more is the first one of its company. */
const HARD_CAP_FACTOR = 5;

export type Kind = "chunk" | "retries";

/** Made for one round of claiming. */
export class BatchAdmission {
  #kind: Kind;
  #soft: number;
  #lanes = 0;
  #companies = new Set<string>();
  /** How many more newsletters each relay may get. */
  #wanted = new Map<SmtpTransport, number>();

  constructor(relays: SmtpTransports, kind: Kind, maxLanes: number) {
    this.#kind = kind;
    this.#soft = maxLanes;
    for (const { campaign: turn } of relays.batches()) {
      this.#lanes++;
      this.#companies.add(turn.company_id);
    }
    for (const relay of relays.all) this.#wanted.set(relay, this.#wantedBy(relay));
  }

  #wantedBy({ batches: lanes, connections, throughput: pulse }: SmtpTransport): number {
    let held = 0;
    let left = 0;
    for (const lane of lanes) {
      if (lane.campaign.is_transactional || (lane.chunk === null) !== (this.#kind === "retries")) continue;
      held++;
      left += Math.max(1, lane.left);
    }
    if (held < MIN_BATCHES_PER_TRANSPORT) return MIN_BATCHES_PER_TRANSPORT - held;
    // A lane may bring no more than one recipient. Those of the next fifth of a second, as with chunks that are read ahead.
    return connections.size === 0 ? 0 : Math.max(2 * connections.size, 4 * pulse.recent) - left;
  }

  /** SMTP configurations that get no newsletters for now. */
  get supplied(): string[] {
    return [...this.#wanted].flatMap(([{ config }, wanted]) => (wanted <= 0 ? [config.id] : []));
  }

  /** Asked before the relay is known: reading its configuration is worth it. */
  mayServe({ company_id, is_transactional }: ClaimableCampaign): boolean {
    if (is_transactional || this.#lanes < this.#soft) return true;
    return !this.#companies.has(company_id) && this.#lanes < HARD_CAP_FACTOR * this.#soft;
  }

  /** Takes the room for a lane, where there is room. */
  admit({ company_id, is_transactional }: ClaimableCampaign, relay: SmtpTransport): boolean {
    const wanted = this.#wanted.get(relay) ?? MIN_BATCHES_PER_TRANSPORT;
    if (!is_transactional && wanted <= 0) return false;
    if (!is_transactional) this.#wanted.set(relay, wanted - 1);
    this.#lanes++;
    this.#companies.add(company_id);
    return true;
  }
}
