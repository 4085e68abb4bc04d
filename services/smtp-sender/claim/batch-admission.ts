/**
 * How many batches a node takes on, and for whom (no rate: a bound on what it holds). A batch holds little, but not nothing,
 * so there are only so many; and a server that answers late, or may be given one mail a second, keeps its batches for a
 * long time. None of that may cost the others:
 *
 * - a server gets no more newsletters than keep it busy;
 * - a company gets no more newsletters than MAX_BATCHES_PER_COMPANY, however many servers and campaigns it has;
 * - a company that has no batch here gets one, even when the others have all there should be;
 * - transactional mail always gets one.
 */
import type { BatchKind, ClaimableCampaign } from "../delivery/rows.ts";
import type { Server } from "../server/server.ts";
import type { Servers } from "../server/servers.ts";

/** Per server, whatever its throughput: its campaigns go side by side. */
const MIN_BATCHES_PER_SERVER = 10;
/** Concurrency limit: no company takes all batches of a process. */
const MAX_BATCHES_PER_COMPANY = 50;
/** How far the soft limit may be exceeded, when each further batch is the first one of its company. */
const HARD_CAP_FACTOR = 5;

/** Newsletters that a server may still get: another batch as long as one of both is above 0. */
interface Demand {
  batches: number;
  recipients: number;
}

const isMet = ({ batches, recipients }: Demand): boolean => batches <= 0 && recipients <= 0;

/** Made for one round of claiming. */
export class BatchAdmission {
  #kind: BatchKind;
  #softLimit: number;
  #batches = 0;
  #batchesOf = new Map<string, number>();
  #demand = new Map<Server, Demand>();

  constructor(servers: Servers, kind: BatchKind, maxBatches: number) {
    this.#kind = kind;
    this.#softLimit = maxBatches;
    for (const { campaign } of servers.batches()) {
      this.#add(campaign.company_id);
    }
    for (const server of servers.all) this.#demand.set(server, this.#demandOf(server));
  }

  #add(companyId: string): void {
    this.#batches++;
    this.#batchesOf.set(companyId, (this.#batchesOf.get(companyId) ?? 0) + 1);
  }

  #demandOf({ batches, connections, preparation: { throughput } }: Server): Demand {
    let held = 0;
    let left = 0;
    for (const batch of batches) {
      if (batch.campaign.is_transactional || batch.kind !== this.#kind) continue;
      held++;
      left += Math.max(1, batch.left);
    }
    // Enough for the next fifth of a second, as with chunks read ahead.
    const wanted = connections.size === 0 ? 0 : Math.max(2 * connections.size, 4 * throughput.recent);
    return { batches: MIN_BATCHES_PER_SERVER - held, recipients: wanted - left };
  }

  /** SMTP configurations that get no newsletters for now. */
  get suppliedIds(): string[] {
    return [...this.#demand].flatMap(([{ config }, demand]) => (isMet(demand) ? [config.id] : []));
  }

  /** Asked before the server is known: whether reading its configuration is worth it. */
  mayServe({ company_id, is_transactional }: ClaimableCampaign): boolean {
    if (is_transactional) return true;
    const own = this.#batchesOf.get(company_id) ?? 0;
    if (this.#batches < this.#softLimit) return own < MAX_BATCHES_PER_COMPANY;
    return own === 0 && this.#batches < HARD_CAP_FACTOR * this.#softLimit;
  }

  /** Takes the room for a batch, where there is room. */
  admit({ company_id, is_transactional, next_recipients }: ClaimableCampaign, server: Server): boolean {
    if (!is_transactional) {
      const demand = this.#demand.get(server) ?? { batches: MIN_BATCHES_PER_SERVER, recipients: 0 };
      if (isMet(demand)) return false;
      // By what it brings: a hundred large ones side by side would be made and recorded one mail at a time.
      demand.batches--;
      demand.recipients -= next_recipients;
      this.#demand.set(server, demand);
    }
    this.#add(company_id);
    return true;
  }
}
