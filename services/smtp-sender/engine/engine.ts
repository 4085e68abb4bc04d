/**
 * The delivery engine of one node: claims work, keeps a relay for each SMTP configuration in use, recovers what dead
 * senders held, and stops in order. Rows are the truth; the doorbell (`kick`) only shortens the wait for the next round.
 */
import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import type { Limiter } from "../../lib/limits/limiter.ts";
import type { Rendered } from "../../renderer/contract.ts";
import { Claimer } from "../claim/claimer.ts";
import { recover } from "../claim/recover-leases.ts";
import type { BatchDelivery } from "../delivery/batch-delivery.ts";
import { type FlushReport, Recorder } from "../delivery/recorder.ts";
import type { ClaimableCampaign, RecipientRow } from "../delivery/rows.ts";
import { type ConnectionSlots, LocalConnectionSlots } from "../limits/connection-slots.ts";
import { InDoubtBudget } from "../limits/in-doubt-budget.ts";
import { SmtpTransports } from "../transport/smtp-transports.ts";
import type { EngineContext } from "./context.ts";
import { DependencyOutage } from "./dependency-outage.ts";
import { mailSettled } from "./metrics.ts";
import type { EngineSettings } from "./settings.ts";
import { stopCampaign } from "./stop-campaign.ts";

const TICK_MS = 250;
const RECOVER_MS = 2_000;
const LANE_PAUSE_MS = 5;
/** When the database is back, all senders' leases may have run out; who lives has written its results by then. */
const AFTER_OUTAGE_MS = 6_000;

export interface EngineOutputs {
  limiter: Limiter;
  render(campaignId: string, rows: readonly RecipientRow[]): Promise<Rendered[]>;
  log: { warn(text: string, data?: object): void; info(text: string, data?: object): void };
  /** A campaign may be through. */
  campaignDrained(campaignId: string): void;
  /** Other nodes should look for work of this campaign. Absent: there are none. */
  notifyOtherNodes?(turn: ClaimableCampaign): void;
  /** Counts connections over all nodes. Absent: this one is alone. */
  slots?(smtpConfigId: string, hasWork: () => boolean): ConnectionSlots;
  /** Webhooks were queued for these companies. */
  webhooksQueued(companyIds: readonly string[]): void;
}

export class Engine {
  readonly owner: string;
  readonly budget: InDoubtBudget;
  readonly transports: SmtpTransports;
  readonly counts = { sent: 0, failed: 0, deferred: 0 };
  readonly outage: DependencyOutage;
  readonly recorder: Recorder;
  readonly claimer: Claimer;
  stopping = false;
  #settings: EngineSettings;
  #outside: EngineOutputs;
  #reads = new PinnedConnection();
  #writes = new PinnedConnection();
  #timers: NodeJS.Timeout[] = [];
  #recovering: Promise<void> | undefined;
  #recoverFrom = 0;

  constructor(node: string, settings: EngineSettings, outside: EngineOutputs) {
    this.owner = `${node}:${randomBytes(4).toString("hex")}`;
    this.#settings = settings;
    this.#outside = outside;
    this.budget = new InDoubtBudget(settings.maxInDoubt);
    this.outage = new DependencyOutage(outside.log);
    this.recorder = new Recorder({
      line: this.#writes,
      owner: this.owner,
      leaseMs: settings.leaseMs,
      enough: Math.max(1, Math.floor(settings.maxInDoubt / 4)),
      report: (flushed) => this.#flushed(flushed),
      trouble: (error) => this.outage.report(error),
    });
    const tools = this.#tools();
    this.transports = new SmtpTransports(tools);
    this.claimer = new Claimer(tools, this.transports);
  }

  #tools(): EngineContext {
    const { limiter, render } = this.#outside;
    return {
      owner: this.owner,
      settings: this.#settings,
      budget: this.budget,
      limiter,
      recorder: this.recorder,
      reads: this.#reads,
      render,
      reportOutage: (error) => this.outage.report(error),
      retryUntilDone: (work) => this.outage.retryUntilDone(work),
      count: (status) => {
        if (status !== "queued") mailSettled(status);
        if (status === "sent" || status === "deferred") this.counts[status]++;
        else if (status !== "queued") this.counts.failed++;
      },
      parkCompany: (companyId, ms) => this.claimer.park(companyId, ms),
      skipCampaign: (campaignId) => this.claimer.skip(campaignId),
      batchOver: (lane, whole, leaseIsLost) => this.#laneOver(lane, whole, leaseIsLost),
      notifyOtherNodes: (turn) => this.#outside.notifyOtherNodes?.(turn),
      slots: (smtpConfigId, hasWork) => this.#outside.slots?.(smtpConfigId, hasWork) ?? new LocalConnectionSlots(),
      lookForWork: () => this.kick(),
      stopCampaign: (companyId, campaignId, error) => this.#stopCampaign(companyId, campaignId, error),
    };
  }

  start(): void {
    this.#timers.push(
      setInterval(() => this.kick(), this.#settings.pollMs),
      setInterval(() => this.#tick(), TICK_MS),
      setInterval(() => void this.recover(), Math.min(RECOVER_MS, this.#settings.leaseMs / 2)),
    );
    void this.recover();
    this.kick();
  }

  /** Looks for work soon; many calls at once are one look. */
  kick(): void {
    if (!this.stopping) this.claimer.look();
  }

  #tick(): void {
    this.transports.tick();
    for (const lane of this.transports.batches()) {
      if (lane.state !== "over") this.#renew(lane);
    }
  }

  #renew(lane: BatchDelivery): void {
    lane.source.renew().then(
      (ours) => {
        if (!ours) lane.leaseLost();
      },
      (error: Error) => this.outage.report(error),
    );
  }

  /** Frees what dead senders held; called by a timer and by tests. */
  recover(): Promise<void> {
    this.#recovering ??= this.#recover().finally(() => {
      this.#recovering = undefined;
    });
    return this.#recovering;
  }

  async #recover(): Promise<void> {
    if (performance.now() < this.#recoverFrom) return;
    try {
      const freed = await recover(this.owner);
      for (const { campaign_id, doubtful } of freed) {
        this.#outside.log.warn("recovered recipients of a sender that stopped", { campaign_id, doubtful });
        this.#outside.campaignDrained(campaign_id);
      }
      if (freed.length > 0) this.kick();
    } catch (error) {
      this.#recoverFrom = performance.now() + AFTER_OUTAGE_MS;
      this.outage.report(error as Error);
    }
  }

  async #stopCampaign(companyId: string, campaignId: string, error: string): Promise<void> {
    this.claimer.skip(campaignId);
    this.#outside.log.warn("campaign stopped", { campaignId, companyId, error });
    await this.outage.retryUntilDone(() => stopCampaign(companyId, campaignId, error));
    this.#endLanesOf(campaignId);
    this.#outside.campaignDrained(campaignId);
  }

  #endLanesOf(campaignId: string): void {
    for (const lane of [...this.transports.batches()]) if (lane.campaign.campaign_id === campaignId) lane.end();
  }

  #flushed({ lost, stopped, webhookCompanyIds: told }: FlushReport): void {
    this.outage.over();
    if (lost.length > 0) {
      const gone = new Set(lost);
      for (const lane of [...this.transports.batches()]) if (lane.chunk && gone.has(lane.chunk)) lane.leaseLost();
    }
    for (const [campaignId] of stopped) {
      this.claimer.skip(campaignId);
      this.#endLanesOf(campaignId);
    }
    if (told.length > 0) this.#outside.webhooksQueued(told);
  }

  #laneOver(lane: BatchDelivery, whole: boolean, leaseIsLost: boolean): void {
    const { campaign_id } = lane.campaign;
    void this.claimer.giveBack(lane, whole, leaseIsLost).then((ended) => {
      const more = [...this.transports.batches()].some(({ campaign: turn }) => turn.campaign_id === campaign_id);
      if (ended && !more) this.#outside.campaignDrained(campaign_id);
      this.kick();
    });
  }

  /**
   * Claims nothing more, waits for what is in the air (bounded), writes what became of it, gives the rest back, says QUIT.
   * What has no answer by then is recorded as in doubt.
   */
  async stop(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.claimer.stop();
    const until = performance.now() + this.#settings.stopMs;
    await this.transports.close(this.#settings.stopMs);
    await this.#recovering;
    const rest = Math.max(1_000, until - performance.now());
    await this.#settled(performance.now() + rest);
    this.#reads.close();
    this.#writes.close();
  }

  /** A lane may still wait for the renderer: what is marked for it meanwhile must go back, or it ends in doubt. */
  async #settled(until: number): Promise<void> {
    for (let over = false; !over && performance.now() < until; ) {
      over = this.transports.batches().next().done === true;
      const late = new Promise((done) => setTimeout(done, until - performance.now()).unref());
      await Promise.race([this.recorder.drain().then(() => this.claimer.settled()), late]);
      if (!over) await new Promise((done) => setTimeout(done, LANE_PAUSE_MS));
    }
  }
}
