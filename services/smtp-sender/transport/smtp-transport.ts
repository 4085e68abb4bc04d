/**
 * One SMTP configuration at work: its batches on one side, its connections on the other. Connections pull: copies first,
 * then what the queue of batches gives. What an answer means is decided in delivery/steps.ts, whether the server is left
 * alone in server-pauses.ts.
 */
import { performance } from "node:perf_hooks";
import type { Warmup } from "../../../models/warmup-ledger.ts";
import { readTransportConfig, type TransportConfig } from "../configs/transport-config.ts";
import { NO_SLOT_PAUSE_MS } from "../delivery/back-off.ts";
import type { Batch, BatchHost, Mail } from "../delivery/batch.ts";
import { type AnswerEffects, takeAnswer } from "../delivery/steps.ts";
import { checkAgain } from "../delivery/suppression.ts";
import { DomainBackOffs } from "../domains/domain-back-off.ts";
import { DomainGate } from "../domains/domain-gate.ts";
import { recipientDomain } from "../domains/recipient-domain.ts";
import type { EngineContext } from "../engine/context.ts";
import type { BudgetClient } from "../limits/in-doubt-budget.ts";
import { PerSecondLimit } from "../limits/per-second-limit.ts";
import type { Connection } from "../smtp/connection.ts";
import type { Reply } from "../smtp/replies.ts";
import type { OpenError } from "../smtp/session.ts";
import type { TransactionResult } from "../smtp/transaction.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { CopyQueue } from "./copies.ts";
import { ServerPauses } from "./server-pauses.ts";
import { ThroughputMeter } from "./throughput-meter.ts";
import { TransportQueue } from "./transport-queue.ts";

const SLOW_MS = 1_000;
/** Rendered mails of the process. Any transport may hold one, however large. */
const MAX_MAIL_BYTES = 48 * 1024 * 1024;

export class SmtpTransport implements BudgetClient, BatchHost, AnswerEffects {
  config: TransportConfig;
  held = 0;
  slow = false;
  mailBytes = 1;
  /** Its configuration is gone: mails in flight end, and nothing begins. */
  deleted = false;
  readonly connections: ConnectionPool;
  readonly throughput = new ThroughputMeter();
  readonly domains: DomainGate;
  readonly domainBackOffs: DomainBackOffs;
  readonly #queue = new TransportQueue();
  readonly #copies: CopyQueue;
  readonly #perSecond: PerSecondLimit;
  #context: EngineContext;
  readonly #pauses: ServerPauses;
  #closed = false;

  constructor(context: EngineContext, config: TransportConfig) {
    this.#context = context;
    this.config = config;
    this.#pauses = this.#makePauses();
    this.domainBackOffs = new DomainBackOffs(context.settings.domainWindowSeconds * 1_000);
    this.domains = new DomainGate({
      smtpConfigId: config.id,
      limiter: context.limiter,
      windowSeconds: context.settings.domainWindowSeconds,
      slots: (key, hasWork) => context.slots(key, hasWork),
      backOffs: this.domainBackOffs,
      wake: () => this.wake(),
      lookForWork: () => context.lookForWork(),
      reportOutage: (error) => this.#limitsUnknown(error),
    });
    this.domains.configure(config.domainLimits);
    this.#copies = new CopyQueue({
      mayGo: (addresses) => this.domains.mayCopyTo(addresses),
      checkAgain: (campaign, rows) => checkAgain(context.reads, campaign, rows),
      reportOutage: (error) => context.reportOutage(error),
      wake: () => this.wake(),
    });
    this.#perSecond = new PerSecondLimit({
      limiter: context.limiter,
      smtpConfigId: config.id,
      onCredit: () => this.wake(),
      reportOutage: (error) => this.#limitsUnknown(error),
    });
    this.connections = new ConnectionPool(
      {
        endpoint: () => (this.#pauses.working ? this.config : { ...this.config, maxConnections: 1 }),
        work: () => this.#work,
        next: (connection) => this.#next(connection),
        answered: (mail, result, connection) => this.#answered(mail, result, connection),
        opened: () => this.#opened(),
        noSlot: (error) => this.#noSlot(error),
        cannotOpen: (error) => this.#cannotOpen(error),
        broke: (reason, connection, reply) => this.#broke(reason, connection, reply),
      },
      context.settings,
      context.slots(config.id, () => this.#work > 0),
    );
  }

  #makePauses(): ServerPauses {
    return new ServerPauses(
      {
        config: () => this.config,
        retryBaseMs: this.#context.settings.retryBaseMs,
        waiting: () => this.#queue.work + this.#copies.size,
        giveBack: () => this.#giveBack(),
        quitConnections: () => this.connections.quitAll(),
        stopCampaigns: (batches, error) => this.#stop(batches, error),
        wake: () => this.wake(),
        lookForWork: () => this.#context.lookForWork(),
        reportOutage: (error) => this.#context.reportOutage(error),
      },
      this.config.failingForMs !== null,
    );
  }

  #limitsUnknown(error: Error): void {
    this.#context.reportOutage(error);
    this.#context.limitsUnknown(this.config.companyId, this.config.id);
  }

  get warmup(): Warmup | null {
    return this.config.warmup;
  }

  get lastError(): string | null {
    return this.#pauses.lastError;
  }

  /** Nothing is sent before this, by the monotonic clock. */
  get backingOffUntil(): number {
    return this.#pauses.until;
  }

  addBatch(batch: Batch): void {
    this.#queue.add(batch);
    this.wake();
  }

  removeBatch(batch: Batch): void {
    this.#queue.remove(batch);
  }

  get batches(): readonly Batch[] {
    return this.#queue.all;
  }

  /** Mails that connections could be sending. None while the server is left alone: copies wait, too. */
  get #work(): number {
    if (!this.#maySend) return 0;
    const waiting = this.#copies.size + this.#queue.work;
    return this.#pauses.working ? waiting : Math.min(1, waiting);
  }

  get #maySend(): boolean {
    return !this.#closed && this.#pauses.maySend;
  }

  get idle(): boolean {
    const backsOff = !this.deleted && this.domainBackOffs.size > 0;
    return this.batches.length === 0 && this.#copies.size === 0 && this.connections.size === 0 && !backsOff;
  }

  get connectionCount(): number {
    return this.connections.size;
  }

  wake(): void {
    if (this.#closed) return;
    void this.#pauses.tryAgain();
    this.connections.wake();
    if (this.connections.size > 0) for (const batch of this.#queue.inTurn) batch.fill();
  }

  budgetReturned(): void {
    this.wake();
  }

  takeBudget(wanted: number, batch: Batch): number {
    const { campaign, chunk } = batch;
    const { budget, recorder } = this.#context;
    this.#queue.prepared(batch);
    // Of a chunk: others are in doubt as soon as they are claimed, and not with the next flush.
    return budget.take(this, wanted, campaign.is_transactional, chunk ? recorder.promised : 0);
  }

  returnBudget(n: number): void {
    this.#context.budget.give(this, n);
  }

  /** About the largest of the last hundred: a small one says nothing about those that are under way. */
  noteMailBytes(bytes: number): void {
    this.mailBytes = Math.max(1, bytes, Math.floor(this.mailBytes * 0.99));
  }

  /**
   * What a transport holds follows its throughput: two recipients for each connection (one being answered, one behind it),
   * and as many as it recorded within the last moments.
   */
  allowance(batch: Batch): number {
    const { size } = this.connections;
    if (size === 0 || this.#closed) return 0;
    if (!this.#pauses.working && (!this.#maySend || this.#queue.anyReady)) return 0;
    const busy = this.#pauses.working ? 2 * size + (this.slow ? 0 : 2 * this.throughput.recent) : 1;
    const window = Math.min(this.#context.settings.maxInDoubt, busy, this.#roomInMemory);
    const waiting = this.domains.waiting(batch.ready);
    const connectionIdle = batch.ready.length === waiting && this.connections.busy < size;
    let held = this.held;
    for (const one of this.batches) held -= one.reserved + one.promised + this.domains.waiting(one.ready);
    return this.#queue.allowance(batch, { window, held, waiting, connectionIdle });
  }

  /** Mails of a megabyte are held by the dozen, not by the hundred. */
  get #roomInMemory(): number {
    const free = MAX_MAIL_BYTES - this.#context.budget.bytes;
    return Math.max(1, this.held + Math.floor(free / this.mailBytes));
  }

  #next(connection: Connection): Mail | undefined {
    const { making, recorder } = this.#context;
    if (!this.#maySend || recorder.stalled) return undefined;
    const anyReady = this.#copies.size > 0 || this.#queue.anyReady;
    if (anyReady && (making.mustWait(this) || !this.#perSecond.take(this.config.maxPerSecond))) return undefined;
    this.domains.pipelined = connection.busySince !== undefined;
    const mail = this.#copies.next() ?? making.spend(() => this.#queue.next());
    if (!mail) return undefined;
    mail.handedAtMs = performance.now();
    this.#pauses.handedOver(mail);
    this.domains.handedOver(mail);
    return mail;
  }

  recorded(n: number): void {
    this.throughput.add(n);
    for (const batch of this.#queue.inTurn) {
      batch.fill();
      if (!batch.askedForMore && batch.left < this.throughput.readAheadAt) {
        batch.askedForMore = true;
        this.#context.lookForWork();
      }
    }
  }

  #answered(mail: Mail, result: TransactionResult, connection: Connection): void {
    if (result.kind === "accepted") this.domainBackOffs.accepted(recipientDomain(mail.row));
    this.#pauses.answered(mail, result);
    this.domains.answered(mail);
    const { openedAtMs, accepted } = connection;
    const session = { openedAtMs, hadAccepted: accepted > 0, quit: () => connection.quit() };
    const { retryBaseMs } = this.#context.settings;
    takeAnswer({ mail, result, session, effects: this, retryBaseMs });
  }

  sendCopies(mail: Mail, accepted: Reply): void {
    this.#copies.add(mail, accepted);
    this.#copiesAdded();
  }

  sendCopyAgain(copy: Mail): void {
    this.#copies.again(copy);
    this.#copiesAdded();
  }

  copyAnswered(copy: Mail, result: TransactionResult): void {
    this.#copies.answered(copy, result, this.#context.settings.retryBaseMs);
    this.#copiesAdded();
  }

  /** While they wait their mails are not recorded: they do so for a free connection, and for nothing else. */
  #copiesAdded(): void {
    if (this.#copies.size === 0) return;
    if (this.#maySend && this.#pauses.working) this.connections.wake();
    else this.#copies.giveUp();
  }

  stopCampaignOf(batch: Batch, error: string): void {
    void this.#stop([batch], error);
  }

  isDeferralOfDomain(mail: Mail, result: TransactionResult, sinceMs: number): boolean {
    return this.domainBackOffs.deferred(recipientDomain(mail.row), result, sinceMs);
  }

  reasonToPause(result: TransactionResult): string | undefined {
    return this.#pauses.reasonToPause(result);
  }

  pauseServer(reason: string): void {
    this.domainBackOffs.serverPaused();
    void this.#pauses.pause(`The SMTP server accepts no mail at the moment: ${reason}`);
  }

  #giveBack(): readonly Batch[] {
    this.#copies.giveUp();
    const batches = [...this.batches];
    for (const batch of batches) batch.end();
    return batches;
  }

  #opened(): void {
    this.#pauses.opened();
    this.wake();
  }

  /** Leases go back at once, to the nodes that have the connections. */
  #noSlot(error?: Error): void {
    if (error) this.#limitsUnknown(error);
    if (this.connections.size > 0) return;
    this.#pauses.until = performance.now() + NO_SLOT_PAUSE_MS;
    for (const { campaign } of this.#giveBack()) {
      if (campaign.is_transactional) this.#context.notifyOtherNodes(campaign);
    }
  }

  #cannotOpen(error: OpenError): void {
    this.#copies.giveUp();
    this.#pauses.lastError = error.message;
    if (!error.isPermanent(this.config.workedBefore)) {
      void this.#pauses.pause(error.message);
      return;
    }
    this.#pauses.recordError(error.message);
    void this.#stop([...this.batches], error.message);
  }

  #broke(reason: string, connection: Connection, reply?: Reply): void {
    this.#pauses.sessionBroke();
    const others = this.connections.size > 0;
    // A server that lets a session begin and ends it at the first mail has a limit, where others are at work.
    if (others && connection.accepted === 0 && connection.tried > 0) this.connections.limitToOpen();
    // It worked until now: a limit per connection, an idle time-out, a restart. Others take its place.
    if (connection.accepted > 0 || others || (connection.tried === 0 && this.#work === 0)) {
      if (reply === undefined) this.#context.lookForWork();
      this.wake();
      return;
    }
    void this.#pauses.pause(reason);
  }

  async #stop(batches: readonly Batch[], error: string): Promise<void> {
    for (const batch of batches) batch.end();
    const campaigns = new Map(batches.map(({ campaign }) => [campaign.campaign_id, campaign.company_id]));
    for (const [campaignId, companyId] of campaigns) await this.#context.stopCampaign(companyId, campaignId, error);
  }

  /** Reads the configuration again; connections made from the old one end after the mail they are at. */
  async reload(): Promise<void> {
    const fresh = await readTransportConfig(this.config.companyId, this.config.id);
    if (!fresh) {
      this.deleted = true;
      this.#copies.giveUp();
      await this.#stop([...this.batches], "The SMTP configuration was deleted.");
      this.connections.renew();
      return;
    }
    const changed = fresh.version !== this.config.version;
    this.config = fresh;
    if (changed) this.domains.configure(fresh.domainLimits);
    if (changed) this.connections.renew();
    this.#pauses.reloaded(changed);
  }

  /** Called a few times a second: is it slow, is it idle. */
  tick(idleMs: number): void {
    this.throughput.tick();
    const now = performance.now();
    let oldest = 0;
    for (const { busySince } of this.connections.all) {
      if (busySince !== undefined) oldest = Math.max(oldest, now - busySince);
    }
    const slow = oldest > SLOW_MS;
    if (slow && !this.slow) for (const batch of [...this.batches]) batch.takeBackReady();
    this.#context.budget.setSlow(this, slow);
    for (const batch of [...this.batches]) {
      batch.recheck();
      batch.endIfDone();
    }
    this.#copies.recheck();
    this.domainBackOffs.tick();
    this.domains.tick();
    this.#pauses.returnUnusedProbe();
    this.connections.closeUnneeded(idleMs);
    this.wake();
  }

  async close(withinMs: number): Promise<void> {
    this.#closed = true;
    for (const batch of [...this.batches]) batch.end();
    await this.connections.close(withinMs);
    this.domains.close();
    this.#copies.giveUp();
    this.#context.budget.forget(this);
  }
}
