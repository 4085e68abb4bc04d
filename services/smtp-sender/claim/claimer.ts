/**
 * Rounds of claiming: who has a turn, which of them this node can serve now, a lease for each. At most two leases per
 * campaign (one being delivered, one read ahead), so that no campaign holds what others could do.
 */
import { performance } from "node:perf_hooks";
import { BatchDelivery } from "../delivery/batch-delivery.ts";
import { ChunkSource, RetrySource } from "../delivery/recipient-source.ts";
import type { LeasedChunk } from "../delivery/recorder.ts";
import type { ClaimableCampaign } from "../delivery/rows.ts";
import type { EngineContext } from "../engine/context.ts";
import type { SmtpTransport } from "../transport/smtp-transport.ts";
import type { SmtpTransports } from "../transport/smtp-transports.ts";
import { BatchAdmission } from "./batch-admission.ts";
import {
  campaignsWithDueRetries,
  claimableCampaigns,
  type Excluded,
  leaseChunks,
  MAX_CAMPAIGNS,
  releaseChunks,
} from "./claim-statements.ts";

const MIN_PAUSE_MS = 20;
const SKIPPED_MS = 5_000;
/** Chunks are asked for up to 50 times a second; what waits for another try can wait for this, too. */
const DUE_PAUSE_MS = 100;

export class Claimer {
  #tools: EngineContext;
  #relays: SmtpTransports;
  #round: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #dueAt = Number.NEGATIVE_INFINITY;
  /** Until when a company (its hour is full) or a campaign (stopped) is left out. */
  #parked = new Map<string, number>();
  #skipped = new Map<string, number>();
  #ending = new Set<Promise<unknown>>();

  constructor(tools: EngineContext, relays: SmtpTransports) {
    this.#tools = tools;
    this.#relays = relays;
  }

  park(companyId: string, ms: number): void {
    this.#parked.set(companyId, performance.now() + ms);
    setTimeout(() => this.look(), ms + 1).unref();
  }

  /** Its row says that it is stopped; a round that read the rows before must not take it. */
  skip(campaignId: string): void {
    this.#skipped.set(campaignId, performance.now() + SKIPPED_MS);
  }

  look(): void {
    if (this.#stopped) return;
    if (this.#round) {
      this.#again = true;
      return;
    }
    this.#round = this.#rounds()
      .catch((error: Error) => this.#tools.reportOutage(error))
      .finally(() => {
        this.#round = undefined;
        if (this.#again) setTimeout(() => this.look(), MIN_PAUSE_MS);
        this.#again = false;
      });
  }

  async #rounds(): Promise<void> {
    while (!this.#stopped && (await this.#claimChunks()));
    const now = performance.now();
    if (this.#stopped || now - this.#dueAt < DUE_PAUSE_MS) return;
    this.#dueAt = now;
    await this.#claimDue();
  }

  #excluded(room: BatchAdmission, campaignIds: Iterable<string>): Excluded {
    const now = performance.now();
    for (const times of [this.#parked, this.#skipped]) {
      for (const [id, until] of times) if (until < now) times.delete(id);
    }
    const busy: string[] = [];
    for (const relay of this.#relays.all) if (relay.backingOffUntil > now) busy.push(relay.config.id);
    return {
      companyIds: [...this.#parked.keys()],
      smtpConfigIds: busy,
      campaignIds: [...this.#skipped.keys(), ...campaignIds],
      suppliedIds: room.supplied,
    };
  }

  #wants(relay: SmtpTransport, campaignId: string): boolean {
    const lanes = relay.batches.filter(
      ({ campaign: turn, chunk }) => turn.campaign_id === campaignId && chunk !== null,
    );
    if (lanes.length >= 2) return false;
    return lanes.length === 0 || lanes[0]!.left < relay.throughput.readAheadAt;
  }

  /** Campaigns that have all the chunks they need for now. */
  *#supplied(): Generator<string> {
    for (const { transport: relay, campaign: turn } of this.#relays.batches()) {
      if (!this.#wants(relay, turn.campaign_id)) yield turn.campaign_id;
    }
  }

  /** True: another look may find more. */
  async #claimChunks(): Promise<boolean> {
    const room = new BatchAdmission(this.#relays, "chunk", this.#tools.settings.maxBatches);
    const found = await claimableCampaigns(this.#excluded(room, new Set(this.#supplied())), this.#tools.reads);
    const served: { turn: ClaimableCampaign; relay: SmtpTransport }[] = [];
    for (const turn of found) {
      if (!room.mayServe(turn)) continue;
      const relay = await this.#relays.of(turn);
      if (relay && this.#wants(relay, turn.campaign_id) && room.admit(turn, relay)) served.push({ turn, relay });
    }
    if (served.length === 0 || this.#stopped) return false;
    const { owner, settings } = this.#tools;
    const validFrom = performance.now();
    const leased = await leaseChunks(
      served.map(({ turn }) => turn),
      owner,
      settings.leaseMs,
    );
    for (const lease of leased) {
      const { turn, relay } = served.find(({ turn: { campaign_id } }) => campaign_id === lease.campaign_id)!;
      const chunk: LeasedChunk = {
        ...lease,
        companyId: turn.company_id,
        campaignId: turn.campaign_id,
        markedTo: lease.lo - 1,
        validFrom,
      };
      const lane = new BatchDelivery(this.#tools, relay, turn, new ChunkSource(this.#tools, turn, chunk));
      relay.addBatch(lane);
      if (this.#stopped || this.#skipped.has(turn.campaign_id)) lane.end();
    }
    if (leased.length === 0) return false;
    return found.length === MAX_CAMPAIGNS || served.some(({ turn, relay }) => this.#wants(relay, turn.campaign_id));
  }

  /** Deferred recipients that are due: each campaign has one lane for them, beside and never behind its chunks. */
  async #claimDue(): Promise<void> {
    const room = new BatchAdmission(this.#relays, "retries", this.#tools.settings.maxBatches);
    const waiting = [...this.#relays.batches()].filter(({ chunk }) => chunk === null);
    const campaignIds = waiting.map(({ campaign: turn }) => turn.campaign_id);
    for (const turn of await campaignsWithDueRetries(this.#excluded(room, campaignIds), this.#tools.reads)) {
      if (!room.mayServe(turn)) continue;
      const relay = await this.#relays.of(turn);
      if (!relay || this.#stopped || !room.admit(turn, relay)) continue;
      relay.addBatch(new BatchDelivery(this.#tools, relay, turn, new RetrySource(this.#tools, turn)));
    }
  }

  /** The lane is over: its chunk is done, or goes back. True: whatever it had is final. */
  giveBack(lane: BatchDelivery, whole: boolean, leaseIsLost: boolean): Promise<boolean> {
    const work = this.#giveBack(lane, whole, leaseIsLost).catch((error: Error) => {
      this.#tools.reportOutage(error);
      return false;
    });
    this.#ending.add(work);
    void work.finally(() => this.#ending.delete(work));
    return work;
  }

  /**
   * All that was handed over has been recorded, so the rest was certainly not sent: the lease is given back also where it
   * seems lost (the database was away for longer than it), or those that were marked would end in doubt. If another
   * sender has it by now, the fence makes it void.
   */
  async #giveBack({ chunk }: BatchDelivery, whole: boolean, leaseIsLost: boolean): Promise<boolean> {
    if (!chunk) return true;
    if (whole && !leaseIsLost) return this.#tools.recorder.close(chunk);
    await this.#tools.retryUntilDone(() =>
      releaseChunks([{ ...chunk, company_id: chunk.companyId }], this.#tools.owner),
    );
    return true;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#round;
  }

  async settled(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all([...this.#ending]);
  }
}
