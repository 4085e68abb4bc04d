/**
 * Sends mail through one SMTP configuration, connecting its batches with its connections. `#work` is the path of each
 * mail over a connection: copies of accepted emails first, then emails from the batches in rotation. delivery/steps.ts
 * decides what a reply means, health.ts whether the server accepts mail.
 */
import { performance } from "node:perf_hooks";
import { readTransportConfig, type TransportConfig } from "../configs/transport-config.ts";
import { NO_SLOT_PAUSE_MS } from "../delivery/back-off.ts";
import type { Batch } from "../delivery/batch.ts";
import type { Mail, MailBatch } from "../delivery/mail.ts";
import type { Granters } from "../delivery/permit.ts";
import type { BatchKind, ClaimableCampaign } from "../delivery/rows.ts";
import { mailAnswered } from "../delivery/spans.ts";
import { type Decision, decide } from "../delivery/steps.ts";
import { DomainBackOffs } from "../domains/domain-back-off.ts";
import { DomainGate } from "../domains/domain-gate.ts";
import { recipientDomain } from "../domains/recipient-domain.ts";
import type { EngineContext } from "../engine/context.ts";
import { smtpAnswered } from "../engine/metrics.ts";
import { DayTokens } from "../limits/day-tokens.ts";
import { HourLimit, UNCOUNTED } from "../limits/hour-limit.ts";
import { PerSecondLimit } from "../limits/per-second-limit.ts";
import type { Connection, SessionEnd } from "../smtp/connection.ts";
import { OpenError } from "../smtp/session.ts";
import type { TransactionResult } from "../smtp/transaction.ts";
import type { BatchQueue } from "./batch-queue.ts";
import { Connections, type NoSlot } from "./connections.ts";
import { CopyQueue } from "./copy-queue.ts";
import { ServerPauses } from "./health.ts";
import { Preparation } from "./preparation.ts";

/** Added because a timer may fire early. */
const AFTER_PAUSE_MS = 10;
/**
 * Errors after which a session is replaced. Servers slow down sessions after errors (Postfix by a second for each after
 * ten, and closes after twenty), even if each was greylisting of another recipient. Each refusal counts twice: RCPT,
 * and the DATA pipelined behind it.
 */
const MAX_REFUSED_IN_A_ROW = 4;

export class Server {
  /** True if the configuration was deleted: emails in progress finish, and nothing starts. */
  deleted = false;
  readonly connections: Connections;
  readonly preparation: Preparation;
  readonly domains: DomainGate;
  readonly domainBackOffs: DomainBackOffs;
  readonly #context: EngineContext;
  readonly #pauses: ServerPauses;
  readonly #queue: BatchQueue;
  readonly #copies: CopyQueue;
  readonly #perSecond: PerSecondLimit;
  #closed = false;
  #growing = false;

  constructor(context: EngineContext, config: TransportConfig) {
    const { limiter, settings, outage, claims } = context;
    const reportOutage = (error: Error) => this.#limitsUnknown(error);
    this.#context = context;
    this.#pauses = new ServerPauses(config, { retryBaseMs: settings.retryBaseMs, outage });
    this.domainBackOffs = new DomainBackOffs(settings.domainWindowSeconds * 1_000);
    this.domains = new DomainGate({
      smtpConfigId: config.id,
      limiter,
      windowSeconds: settings.domainWindowSeconds,
      slots: (key, hasWork) => context.slots(key, hasWork),
      backOffs: this.domainBackOffs,
      claims,
      wake: () => this.wake(),
      reportOutage,
    });
    this.domains.configure(config.domainLimits);
    this.#copies = new CopyQueue(context, this.domains, () => this.wake());
    this.#perSecond = new PerSecondLimit({
      limiter,
      smtpConfigId: config.id,
      onCredit: () => this.wake(),
      reportOutage,
    });
    this.connections = new Connections(
      settings,
      context.slots(config.id, () => this.#waiting > 0),
    );
    const parts = { connections: this.connections, pauses: this.#pauses, domains: this.domains };
    this.preparation = new Preparation(context, parts, () => this.wake());
    this.#queue = this.preparation.queue;
  }

  get config(): TransportConfig {
    return this.#pauses.config;
  }

  get lastError(): string | null {
    return this.#pauses.lastError;
  }

  /** Earliest time of the next email, by the monotonic clock. */
  get backingOffUntil(): number {
    return this.#pauses.until;
  }

  get batches(): readonly Batch[] {
    return this.#queue.all;
  }

  get idle(): boolean {
    const slowed = !this.deleted && this.domainBackOffs.size > 0;
    return this.batches.length === 0 && this.#copies.size === 0 && this.connections.size === 0 && !slowed;
  }

  /** Limits that apply to the campaign's emails. Copies that are retried individually do not count in the hour. */
  granters(campaign: ClaimableCampaign, kind: BatchKind): Granters {
    const { limiter, settings, budget } = this.#context;
    const hour = kind === "copies" ? UNCOUNTED : new HourLimit(limiter, campaign, settings.windowSeconds);
    const days = new DayTokens(hour, campaign, () => this.config.warmup);
    return { hour: days, domains: this.domains, budget, client: this.preparation };
  }

  #limitsUnknown(error: Error): void {
    this.#context.outage.report(error);
    this.#context.unknownLimits.note(this.config.companyId, this.config.id);
  }

  add(batch: Batch): void {
    this.#queue.add(batch);
    void batch.over.then(() => this.#queue.remove(batch));
    this.wake();
  }

  get #maySend(): boolean {
    return !this.#closed && this.#pauses.maySend;
  }

  /** Emails that could be sent now. None while the server is paused: copies wait, too. */
  get #waiting(): number {
    if (!this.#maySend) return 0;
    const waiting = this.#copies.size + this.#queue.work;
    return this.#pauses.working ? waiting : Math.min(1, waiting);
  }

  get #maxConnections(): number {
    return this.#pauses.working ? this.config.maxConnections : 1;
  }

  wake(): void {
    if (this.#closed) return;
    if (this.#pauses.mayProbe && this.#queue.work + this.#copies.size > 0) void this.#claimProbe();
    this.#wakeConnections();
    this.preparation.fillAll();
    if (this.#growing) return;
    this.#growing = true;
    // Runs after connections that check for an email now: the work is for them.
    queueMicrotask(() => {
      this.#growing = false;
      this.#grow();
    });
  }

  #wakeConnections(): void {
    this.connections.wake(() => this.#waiting > 0);
  }

  #grow(): void {
    if (this.#closed) return;
    for (let n = this.connections.missing(this.#waiting, this.#maxConnections); n > 0; n--) void this.#open();
  }

  async #open(): Promise<void> {
    const opened = await this.connections.open({ ...this.config, maxConnections: this.#maxConnections });
    if (this.#closed || opened === undefined) return;
    if (opened instanceof OpenError) this.#cannotOpen(opened);
    else if ("error" in opened) this.#noSlot(opened);
    else this.#use(opened);
    if (this.connections.size > 0) this.wake();
  }

  #use(connection: Connection): void {
    this.#pauses.opened();
    void connection.ended.then((end) => this.#ended(connection, end));
    for (let n = 0; n < connection.maxUnderWay; n++) void this.#work(connection);
  }

  /** The path of each email. Runs concurrently, once for each email that the connection may have in progress. */
  async #work(connection: Connection): Promise<void> {
    while (connection.isOpen) {
      const mail = connection.mayBegin ? this.#next(connection) : undefined;
      if (!mail) {
        await connection.wait();
        continue;
      }
      const result = await connection.send(mail);
      this.#note(mail, result, connection);
      const { health } = this.#pauses;
      const { retryBaseMs } = this.#context.settings;
      const decision = decide({ mail, result, connection, health, backOffs: this.domainBackOffs, retryBaseMs });
      this.#carryOut(decision, mail, result);
      if (decision.endsSession || this.#isUsedUp(connection)) connection.quit();
    }
  }

  /** The next email for a connection, marked and rendered. */
  #next(connection: Connection): Mail | undefined {
    if (!this.#maySend || this.#context.recorder.stalled) return undefined;
    const anyReady = this.#copies.size > 0 || this.#queue.anyReady;
    if (anyReady && !this.#perSecond.take(this.config.maxPerSecond)) return undefined;
    const pipelined = connection.busySince !== undefined;
    const mail = this.#copies.next() ?? this.#queue.next(pipelined, this.preparation.fill);
    if (!mail) return undefined;
    mail.handedAtMs = performance.now();
    mail.bodyBegan = false;
    mail.permit.handedOver();
    this.#pauses.handedOver(mail);
    return mail;
  }

  /** Notes what the reply says about the server and the domain. */
  #note(mail: Mail, result: TransactionResult, connection: Connection): void {
    smtpAnswered(result.kind, (performance.now() - mail.handedAtMs) / 1_000);
    const isFirst = connection.accepted === 0;
    mailAnswered(mail, result, isFirst);
    mail.permit.answered();
    if (result.kind === "accepted") this.domainBackOffs.accepted(recipientDomain(mail.row));
    if (this.#pauses.answered(mail, result)) this.#context.claims.check();
  }

  #carryOut(decision: Decision, mail: Mail, result: TransactionResult): void {
    const { batch } = mail;
    switch (decision.kind) {
      case "again":
        if (mail.copyOf) this.#copies.again(mail);
        else batch.again(mail);
        if (decision.pause !== undefined) this.#refusesAll(decision.pause);
        break;
      case "sendCopies":
        this.#copies.add(mail, decision.reply);
        break;
      case "copyAnswered":
        this.#copies.answered(mail, result);
        break;
      case "record": {
        const { outcome, delayMs, isUsed } = decision;
        batch.record(mail, outcome, delayMs, isUsed, result.kind === "accepted" ? mail.copies?.suppressed : []);
        if (outcome.stops) void this.#stop([batch], outcome.stops);
      }
    }
    this.#copiesAdded();
  }

  /** Copies wait only for a free connection, because their emails are not recorded until then. */
  #copiesAdded(): void {
    if (this.#copies.size === 0) return;
    if (this.#maySend && this.#pauses.working) this.#wakeConnections();
    else this.#copies.giveUp();
  }

  #isUsedUp({ handled, refusedInARow }: Connection): boolean {
    return handled >= this.#context.settings.maxMessagesPerConnection || refusedInARow >= MAX_REFUSED_IN_A_ROW;
  }

  #ended(connection: Connection, { reason, reply }: SessionEnd): void {
    if (this.#closed) return;
    if (reason === "QUIT") {
      this.wake();
      return;
    }
    this.#pauses.sessionBroke();
    const others = this.connections.size > 0;
    // A server that ends a session at its first email has a connection limit if other connections are working.
    if (others && connection.accepted === 0 && connection.tried > 0) this.connections.limitToOpen();
    // The connection worked before: a limit per connection, an idle time-out or a restart. It is replaced.
    if (connection.accepted > 0 || others || (connection.tried === 0 && this.#waiting === 0)) {
      if (reply === undefined) this.#context.claims.check();
      this.wake();
      return;
    }
    void this.#pause(reason);
  }

  /** Leases are released at once, for the nodes that have the connections. */
  #noSlot({ error }: NoSlot): void {
    if (error) this.#limitsUnknown(error);
    if (this.connections.size > 0) return;
    this.#pauses.until = performance.now() + NO_SLOT_PAUSE_MS;
    for (const { campaign } of this.#giveBack()) {
      if (campaign.is_transactional) this.#context.outputs.notifyOtherNodes?.(campaign);
    }
  }

  #cannotOpen(error: OpenError): void {
    this.#copies.giveUp();
    if (error.isPermanent(this.config.workedBefore)) {
      this.#pauses.failed(error.message);
      void this.#stop([...this.batches], error.message);
    } else {
      void this.#pause(error.message);
    }
  }

  #refusesAll(reason: string): void {
    this.domainBackOffs.serverPaused();
    void this.#pause(`The SMTP server accepts no mail at the moment: ${reason}`);
  }

  /** Pauses the server; the leases are released and its email stays queued. */
  async #pause(error: string): Promise<void> {
    if (this.#pauses.paused) return;
    const pausing = this.#pauses.pause(error);
    // A server may defer all mail of one session and none of the next: postscreen does so with a new client.
    this.connections.quitAll();
    const batches = this.#giveBack();
    const pause = await pausing;
    if (!pause) return;
    if (pause.hopeless) await this.#stop(batches, `The SMTP server could not be used for 24 hours. ${error}`);
    this.#checkAfter(pause.ms);
  }

  async #claimProbe(): Promise<void> {
    const claim = await this.#pauses.claimProbe();
    if (claim === "away") return;
    if (claim === "sends") {
      this.wake();
    } else {
      this.#giveBack();
      this.#checkAfter(claim.waitMs);
    }
  }

  #checkAfter(ms: number): void {
    setTimeout(() => this.#context.claims.check(), ms + AFTER_PAUSE_MS).unref();
  }

  /** Queues copies as retries; returns the batches that ended. */
  #giveBack(): readonly Batch[] {
    this.#copies.giveUp();
    const batches = [...this.batches];
    for (const batch of batches) batch.end();
    return batches;
  }

  async #stop(batches: readonly MailBatch[], error: string): Promise<void> {
    for (const batch of batches) batch.end();
    const campaigns = new Map(batches.map(({ campaign }) => [campaign.campaign_id, campaign.company_id]));
    for (const [campaignId, companyId] of campaigns) await this.#context.stops.stop(companyId, campaignId, error);
  }

  /** Reloads the configuration; connections made from the old one end after their current mail. */
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
    this.#pauses.reloaded(fresh);
    if (changed) this.domains.configure(fresh.domainLimits);
    if (changed) this.connections.renew();
  }

  /** Called a few times per second. */
  tick(idleMs: number): void {
    this.preparation.tick();
    this.#copies.recheck();
    this.domainBackOffs.tick();
    this.domains.tick();
    if (this.#pauses.probeIsUnused && this.#queue.work + this.#copies.size === 0)
      void this.#pauses.returnProbe().then(() => this.#context.claims.check());
    this.connections.closeUnneeded(idleMs, this.#maxConnections);
    this.wake();
  }

  async close(withinMs: number): Promise<void> {
    this.#closed = true;
    for (const batch of [...this.batches]) batch.end();
    await this.connections.close(withinMs);
    this.domains.close();
    this.#copies.giveUp();
    this.#context.budget.forget(this.preparation);
  }
}
