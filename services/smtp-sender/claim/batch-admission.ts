/**
 * How many batches a node takes on, and for whom (no rate: a bound on what it holds). A batch holds little, but not nothing,
 * so there are only so many; and a server that answers late, or may be given one mail a second, keeps its batches for a
 * long time. None of that may cost the others:
 *
 * - a transport gets no more newsletters than keep it busy;
 * - a company that has no batch here gets one, even when the others have all there should be;
 * - transactional mail always gets one.
 */
import type { BatchKind } from "../delivery/batch.ts";
import type { ClaimableCampaign } from "../delivery/rows.ts";
import type { SmtpTransport } from "../transport/smtp-transport.ts";
import type { SmtpTransports } from "../transport/smtp-transports.ts";

/** Per transport, whatever its throughput: its campaigns go side by side. */
const MIN_BATCHES_PER_TRANSPORT = 10;
/** How far the soft limit may be exceeded, when each further batch is the first one of its company. */
const HARD_CAP_FACTOR = 5;

/** Made for one round of claiming. */
export class BatchAdmission {
  #kind: BatchKind;
  #softLimit: number;
  #batches = 0;
  #companies = new Set<string>();
  /** How many more newsletters each transport may get. */
  #demand = new Map<SmtpTransport, number>();

  constructor(transports: SmtpTransports, kind: BatchKind, maxBatches: number) {
    this.#kind = kind;
    this.#softLimit = maxBatches;
    for (const { campaign } of transports.batches()) {
      this.#batches++;
      this.#companies.add(campaign.company_id);
    }
    for (const transport of transports.all) this.#demand.set(transport, this.#demandOf(transport));
  }

  #demandOf({ batches, connections, throughput }: SmtpTransport): number {
    let held = 0;
    let left = 0;
    for (const batch of batches) {
      if (batch.campaign.is_transactional || batch.kind !== this.#kind) continue;
      held++;
      left += Math.max(1, batch.left);
    }
    if (held < MIN_BATCHES_PER_TRANSPORT) return MIN_BATCHES_PER_TRANSPORT - held;
    // A batch may bring no more than one recipient. Enough for the next fifth of a second, as with chunks read ahead.
    return connections.size === 0 ? 0 : Math.max(2 * connections.size, 4 * throughput.recent) - left;
  }

  /** SMTP configurations that get no newsletters for now. */
  get suppliedIds(): string[] {
    return [...this.#demand].flatMap(([{ config }, demand]) => (demand <= 0 ? [config.id] : []));
  }

  /** Asked before the transport is known: whether reading its configuration is worth it. */
  mayServe({ company_id, is_transactional }: ClaimableCampaign): boolean {
    if (is_transactional || this.#batches < this.#softLimit) return true;
    return !this.#companies.has(company_id) && this.#batches < HARD_CAP_FACTOR * this.#softLimit;
  }

  /** Takes the room for a batch, where there is room. */
  admit({ company_id, is_transactional }: ClaimableCampaign, transport: SmtpTransport): boolean {
    const demand = this.#demand.get(transport) ?? MIN_BATCHES_PER_TRANSPORT;
    if (!is_transactional && demand <= 0) return false;
    if (!is_transactional) this.#demand.set(transport, demand - 1);
    this.#batches++;
    this.#companies.add(company_id);
    return true;
  }
}
