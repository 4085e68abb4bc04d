/**
 * Limits how many batches a node holds, and for which servers and companies. Each batch uses some memory, and a slow or
 * rate-limited server keeps its batches for a long time. The limits keep that from affecting others:
 *
 * - a server gets no more newsletter batches than it needs to stay busy;
 * - a company gets at most MAX_BATCHES_PER_COMPANY newsletter batches, however many servers and campaigns it has;
 * - a company without a batch on this node always gets one, even above the soft limit;
 * - transactional mail always gets a batch.
 */
import type { BatchKind, ClaimableCampaign } from "../delivery/rows.ts";
import type { Server } from "../server/server.ts";
import type { Servers } from "../server/servers.ts";

/** Minimum per server, so that its campaigns are sent side by side. */
const MIN_BATCHES_PER_SERVER = 10;
/** Concurrency limit: no company takes all batches of a process. */
const MAX_BATCHES_PER_COMPANY = 50;
/** Factor by which first batches of further companies may exceed the soft limit. */
const HARD_CAP_FACTOR = 5;

/** Newsletter batches that a server may still get: another one while either value is above 0. */
interface Demand {
  batches: number;
  recipients: number;
}

const isMet = ({ batches, recipients }: Demand): boolean => batches <= 0 && recipients <= 0;

/** Valid for one round of claiming. */
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
    let remaining = 0;
    for (const batch of batches) {
      if (batch.campaign.is_transactional || batch.kind !== this.#kind) continue;
      held++;
      remaining += Math.max(1, batch.left);
    }
    // Covers the next 200 ms, like chunks that are read ahead.
    const wanted = connections.size === 0 ? 0 : Math.max(2 * connections.size, 4 * throughput.recent);
    return { batches: MIN_BATCHES_PER_SERVER - held, recipients: wanted - remaining };
  }

  /** SMTP configurations that get no newsletter batches in this round. */
  get saturatedIds(): string[] {
    return [...this.#demand].flatMap(([{ config }, demand]) => (isMet(demand) ? [config.id] : []));
  }

  /** False: the server's configuration need not be read. */
  mayServe({ company_id, is_transactional }: ClaimableCampaign): boolean {
    if (is_transactional) return true;
    const companyBatches = this.#batchesOf.get(company_id) ?? 0;
    if (this.#batches < this.#softLimit) return companyBatches < MAX_BATCHES_PER_COMPANY;
    return companyBatches === 0 && this.#batches < HARD_CAP_FACTOR * this.#softLimit;
  }

  /** Reserves a batch if the limits allow it. */
  admit({ company_id, is_transactional, next_recipients }: ClaimableCampaign, server: Server): boolean {
    if (!is_transactional) {
      const demand = this.#demand.get(server) ?? { batches: MIN_BATCHES_PER_SERVER, recipients: 0 };
      if (isMet(demand)) return false;
      // Counted by recipients: a hundred concurrent large batches would each be rendered and recorded one email at a
      // time.
      demand.batches--;
      demand.recipients -= next_recipients;
      this.#demand.set(server, demand);
    }
    this.#add(company_id);
    return true;
  }
}
