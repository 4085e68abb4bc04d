/**
 * Rounds of claiming: who has a turn, which of them this node can serve now, a lease for each. At most two leases per
 * campaign (one being delivered, one read ahead), so that no campaign holds what others could do.
 */
import { performance } from "node:perf_hooks";
import { Lane } from "../delivery/batch-delivery.ts";
import { ChunkSource, DueSource } from "../delivery/recipient-source.ts";
import type { Leased } from "../delivery/recorder.ts";
import type { Turn } from "../delivery/rows.ts";
import type { Tools } from "../engine/context.ts";
import type { Relay } from "../transport/smtp-transport.ts";
import type { Relays } from "../transport/smtp-transports.ts";
import { LaneRoom } from "./batch-admission.ts";
import { dueTurns, type Excluded, leaseChunks, releaseChunks, TURNS, turns } from "./claim-statements.ts";

const MIN_PAUSE_MS = 20;
const SKIPPED_MS = 5_000;
/** Chunks are asked for up to 50 times a second; what waits for another try can wait for this, too. */
const DUE_PAUSE_MS = 100;

export class Claims {
  #tools: Tools;
  #relays: Relays;
  #round: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #dueAt = Number.NEGATIVE_INFINITY;
  /** Until when a company (its hour is full) or a campaign (stopped) is left out. */
  #parked = new Map<string, number>();
  #skipped = new Map<string, number>();
  #ending = new Set<Promise<unknown>>();

  constructor(tools: Tools, relays: Relays) {
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
      .catch((error: Error) => this.#tools.trouble(error))
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

  #excluded(room: LaneRoom, campaignIds: Iterable<string>): Excluded {
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

  #wants(relay: Relay, campaignId: string): boolean {
    const lanes = relay.lanes.filter(({ turn, chunk }) => turn.campaign_id === campaignId && chunk !== null);
    if (lanes.length >= 2) return false;
    return lanes.length === 0 || lanes[0]!.left < relay.pulse.readAheadAt;
  }

  /** Campaigns that have all the chunks they need for now. */
  *#supplied(): Generator<string> {
    for (const { relay, turn } of this.#relays.lanes()) {
      if (!this.#wants(relay, turn.campaign_id)) yield turn.campaign_id;
    }
  }

  /** True: another look may find more. */
  async #claimChunks(): Promise<boolean> {
    const room = new LaneRoom(this.#relays, "chunk", this.#tools.settings.maxLanes);
    const found = await turns(this.#excluded(room, new Set(this.#supplied())), this.#tools.reads);
    const served: { turn: Turn; relay: Relay }[] = [];
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
      const chunk: Leased = {
        ...lease,
        companyId: turn.company_id,
        campaignId: turn.campaign_id,
        markedTo: lease.lo - 1,
        validFrom,
      };
      const lane = new Lane(this.#tools, relay, turn, new ChunkSource(this.#tools, turn, chunk));
      relay.addLane(lane);
      if (this.#stopped || this.#skipped.has(turn.campaign_id)) lane.end();
    }
    if (leased.length === 0) return false;
    return found.length === TURNS || served.some(({ turn, relay }) => this.#wants(relay, turn.campaign_id));
  }

  /** Deferred recipients that are due: each campaign has one lane for them, beside and never behind its chunks. */
  async #claimDue(): Promise<void> {
    const room = new LaneRoom(this.#relays, "retries", this.#tools.settings.maxLanes);
    const waiting = [...this.#relays.lanes()].filter(({ chunk }) => chunk === null);
    const campaignIds = waiting.map(({ turn }) => turn.campaign_id);
    for (const turn of await dueTurns(this.#excluded(room, campaignIds), this.#tools.reads)) {
      if (!room.mayServe(turn)) continue;
      const relay = await this.#relays.of(turn);
      if (!relay || this.#stopped || !room.admit(turn, relay)) continue;
      relay.addLane(new Lane(this.#tools, relay, turn, new DueSource(this.#tools, turn)));
    }
  }

  /** The lane is over: its chunk is done, or goes back. True: whatever it had is final. */
  giveBack(lane: Lane, whole: boolean, leaseIsLost: boolean): Promise<boolean> {
    const work = this.#giveBack(lane, whole, leaseIsLost).catch((error: Error) => {
      this.#tools.trouble(error);
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
  async #giveBack({ chunk }: Lane, whole: boolean, leaseIsLost: boolean): Promise<boolean> {
    if (!chunk) return true;
    if (whole && !leaseIsLost) return this.#tools.recorder.close(chunk);
    await this.#tools.insist(() => releaseChunks([{ ...chunk, company_id: chunk.companyId }], this.#tools.owner));
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
