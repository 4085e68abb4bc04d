/**
 * The delivery engine of one node: claims work, keeps a transport for each SMTP configuration in use, recovers the leases
 * of dead senders, and stops in order. Rows are the truth; an event (`lookForWork`) only shortens the wait for the next
 * round of claiming.
 */
import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { query, transaction } from "../../../models/database/db.ts";
import { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import { lookFor } from "../../../models/database/shared-look.ts";
import { stopOverGuard } from "../../../models/statements/campaign-guard.ts";
import type { Limiter } from "../../lib/limits/limiter.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import type { MakeMail, Rendered } from "../../renderer/contract.ts";
import type { AskedLease, GivenUp, Peers } from "../claim/ask-owners.ts";
import { ANY_TO_CLAIM, failQueuedCopies, STOPPED } from "../claim/claim-statements.ts";
import { Claimer } from "../claim/claimer.ts";
import { giveUpLeases } from "../claim/give-up-leases.ts";
import type { Batch } from "../delivery/batch.ts";
import { Recorder } from "../delivery/recorder.ts";
import type { FlushReport, RefusedResult } from "../delivery/result-writer.ts";
import type { ClaimableCampaign, RecipientRow } from "../delivery/rows.ts";
import { type ConnectionSlots, LocalConnectionSlots } from "../limits/connection-slots.ts";
import { InDoubtBudget } from "../limits/in-doubt-budget.ts";
import { UnknownLimits } from "../limits/unknown-limits.ts";
import { MakingTime } from "../transport/making-time.ts";
import { SmtpTransports } from "../transport/smtp-transports.ts";
import type { EngineContext } from "./context.ts";
import { DatabaseHistory } from "./database-history.ts";
import { DependencyOutage, type Log } from "./dependency-outage.ts";
import { LeaseRecovery } from "./lease-recovery.ts";
import { mailSettled } from "./metrics.ts";
import { recogniseDatabase } from "./restored-database.ts";
import type { EngineSettings } from "./settings.ts";

const TICK_MS = 250;
const RECOVER_MS = 2_000;
/** A campaign that is stopped gets no mail that begins more than 2 s later: half of it for the mail that is being sent. */
const LOOK_FOR_STOPS_MS = 750;
const SETTLE_PAUSE_MS = 5;

/** What the engine is given. */
export interface EngineOutputs {
  limiter: Limiter;
  render(campaignId: string, rows: readonly RecipientRow[]): Promise<(Rendered | MakeMail)[]>;
  log: Log;
  /** A campaign may have nothing left to send. */
  campaignDrained(campaignId: string): void;
  /** Other nodes should look for work of this campaign. Absent: there are none. */
  notifyOtherNodes?(campaign: ClaimableCampaign): void;
  /** The other senders, to be asked for leases that ran out. Absent: there are none. */
  peers?: Peers;
  /** Counts connections over all nodes. Absent: this one is alone. */
  slots?(smtpConfigId: string, hasWork: () => boolean): ConnectionSlots;
  /** Webhooks were queued for these companies. */
  webhooksQueued(companyIds: readonly string[]): void;
}

/** Senders claim nothing of a campaign with an error; the campaigns service fails what is left of it. */
async function writeStop(companyId: string, campaignId: string, error: string): Promise<void> {
  await query(
    `update campaigns set error = $3, updated_at = now()
     where id = $2 and company_id = $1 and error is null and status in ('pending', 'sending')`,
    [companyId, campaignId, error],
  );
}

export class Engine {
  readonly owner: string;
  readonly budget: InDoubtBudget;
  readonly transports: SmtpTransports;
  readonly counts = { sent: 0, failed: 0, deferred: 0 };
  readonly outage: DependencyOutage;
  readonly recorder: Recorder;
  readonly claimer: Claimer;
  readonly history: DatabaseHistory;
  stopping = false;
  #settings: EngineSettings;
  #outputs: EngineOutputs;
  #reads = new PinnedConnection();
  #writes = new PinnedConnection();
  #timers: NodeJS.Timeout[] = [];
  #endPoll = () => {};
  #recovery: LeaseRecovery;
  #lookForStopsAt = 0;
  #stopped: Promise<void> | undefined;
  /** Campaigns that are being stopped by the guard: until that is written, each flush finds them again. */
  #guarded = new Set<string>();

  constructor(node: string, settings: EngineSettings, outputs: EngineOutputs) {
    this.owner = `${node}:${randomBytes(4).toString("hex")}`;
    this.#settings = settings;
    this.#outputs = outputs;
    this.budget = new InDoubtBudget(settings.maxInDoubt);
    this.outage = new DependencyOutage(outputs.log);
    this.recorder = new Recorder({
      connection: this.#writes,
      owner: this.owner,
      leaseMs: settings.leaseMs,
      groupSize: Math.max(1, Math.floor(settings.maxInDoubt / 2)),
      log: outputs.log,
      onFlushed: (report) => this.#flushed(report),
      onOutage: (error) => this.outage.report(error),
    });
    this.history = new DatabaseHistory({
      log: outputs.log,
      peers: outputs.peers,
      endBatches: () => this.#endBatchesOfLostHistory(),
      hasBatches: () => !this.transports.batches().next().done || this.claimer.endingChunks.size > 0,
      writeAgain: () => this.recorder.writeAgain(),
      recognise: (moment, wasRunning) =>
        recogniseDatabase(moment, { log: outputs.log, peers: outputs.peers, wasRunning }),
      known: () => this.lookForWork(),
      stopping: () => this.stopping,
    });
    this.#recovery = new LeaseRecovery({
      history: this.history,
      owner: this.owner,
      leaseMs: settings.leaseMs,
      log: outputs.log,
      peers: outputs.peers,
      reportOutage: (error) => this.outage.report(error),
      freed: (campaignIds) => {
        for (const id of campaignIds) outputs.campaignDrained(id);
        this.lookForWork();
      },
    });
    const context = this.#context();
    this.transports = new SmtpTransports(context);
    this.claimer = new Claimer(context, this.transports);
  }

  #context(): EngineContext {
    const { limiter, render } = this.#outputs;
    const unknownLimits = new UnknownLimits();
    return {
      owner: this.owner,
      settings: this.#settings,
      budget: this.budget,
      limiter,
      making: new MakingTime(),
      recorder: this.recorder,
      reads: this.#reads,
      render,
      timeline: () => this.history.timeline,
      reportOutage: (error) => this.outage.report(error),
      limitsUnknown: (companyId, smtpConfigId) => unknownLimits.note(companyId, smtpConfigId),
      retryUntilDone: (what, work) => this.outage.retryUntilDone(what, work),
      count: (status) => {
        if (status !== "queued") mailSettled(status);
        if (status === "sent" || status === "deferred") this.counts[status]++;
        else if (status !== "queued") this.counts.failed++;
      },
      parkCompany: (companyId, ms) => this.claimer.park(companyId, ms),
      parkConfig: (smtpConfigId, ms) => this.claimer.parkConfig(smtpConfigId, ms),
      skipCampaign: (campaignId) => this.claimer.skip(campaignId),
      batchOver: (batch, complete, leaseIsLost) => this.#batchOver(batch, complete, leaseIsLost),
      notifyOtherNodes: (campaign) => this.#outputs.notifyOtherNodes?.(campaign),
      slots: (smtpConfigId, hasWork) => this.#outputs.slots?.(smtpConfigId, hasWork) ?? new LocalConnectionSlots(),
      lookForWork: () => this.lookForWork(),
      stopCampaign: (companyId, campaignId, error) => this.#stopCampaign(companyId, campaignId, error),
    };
  }

  start(): void {
    this.#timers.push(
      setInterval(() => this.#tick(), TICK_MS),
      setInterval(() => void this.recover(), Math.min(RECOVER_MS, this.#settings.leaseMs / 2)),
    );
    void this.recover();
    this.lookForWork();
    this.#poll();
  }

  /** For what no event announced, and retries that are due. */
  #poll(): void {
    this.#endPoll = lookFor(ANY_TO_CLAIM, this.#settings.pollMs, () => {
      this.lookForWork();
      this.#poll();
    });
  }

  /** Claims soon; many calls at once are one look. */
  lookForWork(): void {
    if (!this.stopping) this.claimer.look();
  }

  /** Somebody stopped a campaign, perhaps one that is at work here. */
  lookForStops(): void {
    this.#lookForStopsAt = 0;
    void this.#endStopped();
  }

  /** It was changed or deleted. */
  async configChanged(smtpConfigId: string): Promise<void> {
    await this.transports.reload(smtpConfigId);
    this.claimer.unparkConfig(smtpConfigId);
  }

  #tick(): void {
    this.transports.tick();
    void this.#endStopped();
    this.#renewAll();
  }

  #renewAll(): void {
    for (const batch of this.transports.batches()) {
      if (batch.state !== "over") this.#renew(batch);
    }
  }

  #renew(batch: Batch): void {
    batch.source.renew().then(
      (ours) => {
        if (!ours) batch.leaseLost();
      },
      (error: Error) => this.outage.report(error),
    );
  }

  /** Frees the leases of dead senders; called by a timer and by tests. */
  recover(): Promise<void> {
    return this.#recovery.run();
  }

  /** Another sender asks, because these leases have run out. */
  giveUp(leases: readonly AskedLease[]): GivenUp {
    return giveUpLeases(leases, {
      owner: this.owner,
      batches: () => this.transports.batches(),
      ending: this.claimer.endingChunks,
      unwritten: () => this.recorder.unwritten,
    });
  }

  async #stopCampaign(companyId: string, campaignId: string, error: string): Promise<void> {
    this.claimer.skip(campaignId);
    this.#outputs.log.warn("campaign stopped", { campaignId, companyId, error });
    await this.outage.retryUntilDone(`stopping campaign ${campaignId}`, async () => {
      await writeStop(companyId, campaignId, error);
      await failQueuedCopies(companyId, campaignId, error);
    });
    this.#endBatchesOf(campaignId);
    this.#outputs.campaignDrained(campaignId);
  }

  async #stopOverGuard(companyId: string, campaignId: string): Promise<void> {
    if (this.#guarded.has(campaignId)) return;
    this.#guarded.add(campaignId);
    let error: string | undefined;
    await this.outage.retryUntilDone(`stopping campaign ${campaignId} by the guard`, async () => {
      error = await transaction((client) => stopOverGuard(client, companyId, campaignId));
    });
    this.#guarded.delete(campaignId);
    if (error === undefined) return;
    this.#outputs.log.warn("campaign stopped", { campaignId, companyId, error });
    this.claimer.skip(campaignId);
    this.#endBatchesOf(campaignId);
    this.#outputs.campaignDrained(campaignId);
  }

  #endBatchesOfLostHistory(): void {
    for (const chunk of this.claimer.endingChunks) chunk.historyIsLost = true;
    for (const batch of [...this.transports.batches()]) {
      if (batch.chunk) batch.chunk.historyIsLost = true;
      batch.end();
    }
  }

  #endBatchesOf(campaignId: string): void {
    for (const batch of [...this.transports.batches()]) if (batch.campaign.campaign_id === campaignId) batch.end();
  }

  /** Stopped by an action, by another node, or by an operator's statement. One look for all campaigns at work here. */
  async #endStopped(): Promise<void> {
    const now = performance.now();
    if (now < this.#lookForStopsAt) return;
    const batches = [...this.transports.batches()].filter(({ state }) => state === "open");
    if (batches.length === 0) return;
    this.#lookForStopsAt = Number.POSITIVE_INFINITY;
    const key = (campaignId: string, copies: boolean) => `${campaignId} ${copies}`;
    const keyOf = ({ campaign, kind }: Batch) => key(campaign.campaign_id, kind === "copies");
    const distinct = [...new Map(batches.map((batch) => [keyOf(batch), batch])).values()];
    try {
      const stopped = await this.#reads.run<{ campaign_id: string; copies: boolean }>("stopped-campaigns", STOPPED, [
        distinct.map(({ campaign }) => campaign.company_id),
        distinct.map(({ campaign }) => campaign.campaign_id),
        distinct.map(({ kind }) => kind === "copies"),
      ]);
      const ended = new Set(stopped.map(({ campaign_id, copies }) => key(campaign_id, copies)));
      for (const batch of [...this.transports.batches()]) if (ended.has(keyOf(batch))) batch.end();
    } catch (error) {
      this.outage.report(error as Error);
    } finally {
      this.#lookForStopsAt = now + LOOK_FOR_STOPS_MS;
    }
  }

  #flushed({ lost, stopped, overGuard, webhookCompanyIds, lateCampaignIds, refused }: FlushReport): void {
    this.outage.over();
    for (const result of refused) this.#refused(result);
    for (const id of lateCampaignIds) this.#outputs.campaignDrained(id);
    if (lost.length > 0) {
      const gone = new Set(lost);
      for (const batch of [...this.transports.batches()]) if (batch.chunk && gone.has(batch.chunk)) batch.leaseLost();
    }
    for (const [campaignId] of stopped) {
      this.claimer.skip(campaignId);
      this.#endBatchesOf(campaignId);
    }
    for (const [companyId, campaignId] of overGuard) void this.#stopOverGuard(companyId, campaignId);
    if (webhookCompanyIds.length > 0) this.#outputs.webhooksQueued(webhookCompanyIds);
  }

  #refused({ result, error, stateStored }: RefusedResult): void {
    const { campaignId, companyId, seq, outcome } = result;
    const text = stateStored
      ? "PostgreSQL refused a result: stored without its events and webhooks"
      : "PostgreSQL refused a result: its recipient ends as in doubt when the lease runs out";
    this.#outputs.log.error(text, { campaignId, companyId, seq, status: outcome.status, error: error.message });
  }

  async #batchOver(batch: Batch, complete: boolean, leaseIsLost: boolean): Promise<void> {
    const { campaign_id } = batch.campaign;
    const ended = await this.claimer.giveBack(batch, complete, leaseIsLost);
    const more = [...this.transports.batches()].some(({ campaign }) => campaign.campaign_id === campaign_id);
    if (ended && !more) this.#outputs.campaignDrained(campaign_id);
    this.lookForWork();
  }

  /**
   * Claims nothing more, waits for mails in flight (bounded), writes their results, gives the rest back, says QUIT. Mails
   * without an answer by then are recorded as in doubt.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.stopping = true;
    this.#endPoll();
    for (const timer of this.#timers) clearInterval(timer);
    // A drain may last longer than a lease: others would take what was handed over as in doubt.
    const renewing = setInterval(() => this.#renewAll(), TICK_MS);
    await this.claimer.stop();
    const until = performance.now() + this.#settings.stopMs;
    await this.transports.close(this.#settings.stopMs);
    await this.#recovery.running;
    const rest = Math.max(1_000, until - performance.now());
    await this.#settled(performance.now() + rest);
    clearInterval(renewing);
    this.outage.stopRetrying();
    this.#reads.close();
    this.#writes.close();
  }

  /** A batch may still wait for the renderer: recipients marked for it meanwhile must go back, or they end in doubt. */
  async #settled(until: number): Promise<void> {
    for (let over = false; !over && performance.now() < until; ) {
      over = this.transports.batches().next().done === true;
      const written = this.recorder.drain().then(() => this.claimer.settled());
      await withTimeout(written, until - performance.now(), () => new Error("late")).catch(() => {});
      if (!over) await new Promise((done) => setTimeout(done, SETTLE_PAUSE_MS));
    }
  }
}
