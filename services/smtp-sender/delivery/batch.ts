/**
 * Delivers the recipients of a lease: reads rows from a source, makes emails with permits, marks them in the database,
 * and offers them as ready. The server asks for preparation and takes emails one at a time with `next`, so a slow server
 * never holds more than it asks for. An email is rendered when it is taken.
 *
 *   open     prepares groups while there are rows
 *   ending   prepares nothing more; waits for handed-over emails, then releases the lease
 *   over     nothing of the batch is left in this process
 *
 * Each email gets a permit before it is marked and keeps it until its result is written (MAX_IN_DOUBT). Emails of a chunk
 * may reuse the budget of results that are being written (`promised`): their mark is written in the same statement as
 * those results, which halves the statements. An email that is put back keeps its permit (`#reserved`) until the mark in
 * the database no longer covers it, or the lease is released.
 */
import { performance } from "node:perf_hooks";
import type { EngineContext } from "../engine/context.ts";
import { limiterWaited, mailSettled } from "../engine/metrics.ts";
import type { HourGrant } from "../limits/hour-limit.ts";
import type { CopyOutcome } from "./copies.ts";
import type { EnvelopeSender } from "./envelope-sender.ts";
import { Mail, type MailBatch, notRendered } from "./mail.ts";
import { type Outcome, QUEUED } from "./outcome.ts";
import { type Granters, Permit } from "./permit.ts";
import type { RecipientSource } from "./recipient-source.ts";
import type { LeasedChunk, RecordedResult } from "./recorded-result.ts";
import type { BatchKind, ClaimableCampaign } from "./rows.ts";
import { prepareGroup } from "./steps.ts";
import { checkAgain, MAX_CHECK_AGE_MS, outcomeUnsent, RECHECK_AFTER_MS } from "./suppression.ts";

/** If the hourly or daily limit leaves no capacity for longer than this, the lease is released. */
const MAX_HOUR_WAIT_MS = 2_000;
const OUTAGE_PAUSE_MS = 1_000;

/** End of the batch's lease. */
export interface BatchEnd {
  /** Every recipient is final or waits individually. */
  complete: boolean;
  leaseIsLost: boolean;
}

interface BatchParts {
  campaign: ClaimableCampaign;
  source: RecipientSource;
  sender: EnvelopeSender;
  granters: Granters;
}

/** Events that a batch reports to its server. */
export interface BatchServer {
  /** `n` of the batch's results were written. */
  recorded(n: number): void;
  /** There may be something to send. */
  wake(): void;
  noteMailBytes(bytes: number): void;
}

export class Batch implements MailBatch {
  readonly campaign: ClaimableCampaign;
  readonly source: RecipientSource;
  readonly sender: EnvelopeSender;
  readonly ready: Mail[] = [];
  /** Recipients taken from the source that are neither recorded nor put back. */
  unrecorded = 0;
  state: "open" | "ending" | "over" = "open";
  isStopped = false;
  /** The batch of the campaign's previous chunk, while it is running. */
  previous: Batch | undefined;
  /** The search for the next chunk has started. */
  askedForMore = false;
  readonly over: Promise<BatchEnd>;
  readonly #context: EngineContext;
  readonly #server: BatchServer;
  readonly #granters: Granters;
  #resolveOver!: (end: BatchEnd) => void;
  /** A group is being prepared, or the mark is being moved back. */
  #preparing = false;
  #rechecking = false;
  #pausedUntil = 0;
  #leaseIsLost = false;
  #endsWhenEmpty = false;
  #returnsWhenPrepared = false;
  readonly #handedOver = new Set<Mail>();
  /** Results that the recorder has not written yet. */
  #promised = 0;
  /** Permits, by seq, of recipients that were put back while marked. */
  readonly #reserved = new Map<number, Permit>();

  constructor(context: EngineContext, server: BatchServer, { campaign, source, sender, granters }: BatchParts) {
    this.#context = context;
    this.#server = server;
    this.#granters = granters;
    this.campaign = campaign;
    this.source = source;
    this.sender = sender;
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
  }

  get kind(): BatchKind {
    return this.source.kind;
  }

  /** Number of emails that connections hold. */
  get handedOver(): number {
    return this.#handedOver.size;
  }

  /** Recipients that were put back but are still marked in the database: they count against the budget. */
  get reserved(): number {
    return this.#reserved.size;
  }

  /** Recipients of a chunk whose results are written no later than the next mark (Recorder.promised). */
  get promised(): number {
    return this.chunk ? this.#promised : 0;
  }

  get chunk(): LeasedChunk | null {
    return this.source.chunk;
  }

  /** Estimate of the recipients still to come. */
  get left(): number {
    return this.ready.length + this.source.left;
  }

  get mayPrepare(): boolean {
    if (this.#preparing || this.state !== "open" || this.#endsWhenEmpty) return false;
    return (!this.source.exhausted || this.#reserved.size > 0) && performance.now() >= this.#pausedUntil;
  }

  noteMailBytes(bytes: number): void {
    this.#server.noteMailBytes(bytes);
  }

  /** Prepares up to `n` more emails within the budget. Resolves with the time to wait before it is called again. */
  async prepare(n: number, connections: number): Promise<number> {
    // Reserved recipients come first from the source and already have permits.
    const reused = [...this.#reserved.keys()].sort((a, b) => a - b).slice(0, n);
    const permits = this.#takePermits(n - reused.length);
    if (reused.length + permits.length === 0) return 0;
    this.#preparing = true;
    try {
      await this.#prepare(reused, permits, connections);
    } catch (error) {
      this.#context.outage.report(error as Error);
      this.#pausedUntil = performance.now() + OUTAGE_PAUSE_MS;
    }
    this.#preparing = false;
    if (this.#returnsWhenPrepared) this.returnReady();
    this.#server.wake();
    this.endIfDone();
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  #takePermits(n: number): Permit[] {
    if (this.source.exhausted) return [];
    // Only chunks: retries and copies are in doubt as soon as they are claimed, not at the next flush.
    const promised = this.chunk ? this.#context.recorder.promised : 0;
    return Permit.take(this.#granters, n, this.campaign.is_transactional, promised);
  }

  async #prepare(reused: readonly number[], permits: Permit[], connections: number): Promise<void> {
    try {
      const rows = await this.source.take(reused.length + permits.length);
      for (const seq of reused) {
        permits.push(this.#reserved.get(seq)!);
        this.#reserved.delete(seq);
      }
      const mails = rows.map((row) => {
        const reserved = this.#reserved.get(row.seq);
        this.#reserved.delete(row.seq);
        return new Mail(this, row, reserved ?? permits.pop()!, this.source.readAtMs);
      });
      this.unrecorded += mails.length;
      // Written now: the campaign's next chunk starts with these, and its mark goes out in the same statement.
      for (const permit of permits.splice(0)) permit.end();
      await prepareGroup({ batch: this, granters: this.#granters, context: this.#context, mails, connections });
    } finally {
      for (const permit of permits) permit.end();
    }
  }

  waitForTokens({ retryAfterMs: ms, waitsForDay }: HourGrant): void {
    limiterWaited(waitsForDay ? "day" : "hour");
    if (ms <= MAX_HOUR_WAIT_MS) {
      this.#pausedUntil = performance.now() + ms;
      return;
    }
    const { claims, settings } = this.#context;
    const { company_id, smtp_config_id } = this.campaign;
    if (waitsForDay) claims.parkConfig(smtp_config_id, Math.min(ms, settings.hourRetryMs));
    else claims.park(company_id, Math.min(ms, settings.hourRetryMs));
    // Not immediately: the recipients that were granted are being sent.
    this.#endsWhenEmpty = true;
  }

  /** Returns emails that were not handed over to the chunk, or to the queue of deferred recipients. */
  putBack(mails: readonly Mail[]): void {
    Permit.giveBack(mails.map(({ permit }) => permit));
    if (!this.source.putBack(mails.map(({ row }) => row))) {
      for (const mail of mails) this.record(mail, QUEUED, 0);
      return;
    }
    this.unrecorded -= mails.length;
    for (const { row, permit } of mails) {
      if (this.source.isMarked(row)) this.#reserved.set(row.seq, permit);
      else permit.end();
    }
  }

  /** Takes and renders the next email. `pipelined`: its connection has another email in progress. */
  next(pipelined: boolean): Mail | undefined {
    const { domains } = this.#granters;
    for (let mail = domains.next(this.ready, pipelined); mail; mail = domains.next(this.ready, pipelined)) {
      if (performance.now() - mail.checkedAtMs > MAX_CHECK_AGE_MS) {
        this.ready.unshift(mail);
        this.recheck();
        return undefined;
      }
      if (!mail.permit.isFresh || !domains.isAllowed(mail)) {
        this.putBack([mail]);
        continue;
      }
      // The lease may expire while an email waits for a slow connection.
      if (!this.source.leaseIsOurs(mail.row)) {
        this.putBack([mail]);
        this.leaseLost();
        return undefined;
      }
      const error = mail.make();
      if (error === undefined) {
        this.#handedOver.add(mail);
        return mail;
      }
      this.record(mail, notRendered(error));
    }
    return undefined;
  }

  /**
   * Rechecks waiting emails for suppressions, also those waiting for replies to their envelopes and to the emails of
   * copies; called a few times per second.
   */
  recheck(): void {
    const now = performance.now();
    const begun = [...this.#handedOver].filter(({ bodyBegan, copies }) => !bodyBegan || copies?.messages.length);
    const waiting = [...this.ready, ...begun];
    if (this.#rechecking || !waiting.some(({ checkedAtMs }) => now - checkedAtMs > RECHECK_AFTER_MS)) return;
    this.#rechecking = true;
    checkAgain(
      this.#context.reads,
      this.campaign,
      waiting.map(({ row }) => row),
    )
      .then(() => {
        for (const mail of waiting) mail.checkedAtMs = now;
        this.#removeSuppressed();
      })
      .catch((error: Error) => this.#context.outage.report(error))
      .finally(() => {
        this.#rechecking = false;
        this.#server.wake();
      });
  }

  #removeSuppressed(): void {
    for (const mail of [...this.ready]) {
      const unsent = outcomeUnsent(mail.row, this.campaign);
      if (!unsent) continue;
      this.ready.splice(this.ready.indexOf(mail), 1);
      this.record(mail, unsent);
    }
  }

  /** A connection took the email and did not send it. */
  again(mail: Mail): void {
    this.#handedOver.delete(mail);
    const unsent = outcomeUnsent(mail.row, this.campaign);
    if (unsent) {
      this.record(mail, unsent);
    } else if (this.state === "open") {
      this.ready.unshift(mail);
    } else {
      this.putBack([mail]);
      this.endIfDone();
    }
  }

  record(
    mail: Mail,
    outcome: Outcome,
    delayMs: number | null = null,
    isUsed = false,
    copies: readonly CopyOutcome[] = [],
  ): void {
    const { row, permit } = mail;
    this.#handedOver.delete(mail);
    permit.settle(isUsed);
    this.source.settled(row);
    this.#promised++;
    this.#context.recorder.add({
      companyId: this.campaign.company_id,
      campaignId: this.campaign.campaign_id,
      mail: { campaignNo: row.campaign_no, id: row.id, email: row.email, messageId: row.message_id },
      chunk: this.chunk,
      seq: row.seq,
      attempts: row.attempts,
      copyNo: row.copy_no ?? null,
      outcome,
      delayMs: outcome.status === "queued" && !this.chunk ? (delayMs ?? 0) : delayMs,
      copies,
      by: this,
      permit,
    });
    if (row.copy_no === undefined) mailSettled(this.#context.counts, outcome.status);
  }

  recorded(results: readonly RecordedResult[]): void {
    for (const { permit } of results) permit?.end();
    this.unrecorded -= results.length;
    this.#promised -= results.length;
    this.#server.recorded(results.length);
    this.endIfDone();
  }

  /** Returns ready emails to the source, so that a hanging server holds none of the budget for them. */
  returnReady(): void {
    this.#returnsWhenPrepared = this.#preparing;
    if (this.#preparing || this.ready.length + this.#reserved.size === 0) return;
    const mails = this.ready.splice(0);
    if (!this.chunk || this.state !== "open") {
      this.putBack(mails);
      return;
    }
    Permit.giveBack(mails.map(({ permit }) => permit));
    // Moves the mark back before these emails, which were marked last, and only then ends their permits.
    const before = Math.min(...mails.map(({ row }) => row.seq), ...this.#reserved.keys()) - 1;
    const mark = Math.max(before, ...[...this.#handedOver].map(({ row }) => row.seq));
    this.#preparing = true;
    void this.source.unmark(mark).then((held) => {
      this.#preparing = false;
      this.putBack(mails);
      for (const [seq, permit] of this.#reserved) {
        if (seq <= mark) continue;
        this.#reserved.delete(seq);
        permit.end();
      }
      if (!held) this.leaseLost();
      this.endIfDone();
    });
  }

  end(): void {
    if (this.state !== "open") return;
    this.state = "ending";
    this.putBack(this.ready.splice(0));
    this.endIfDone();
  }

  /** The campaign was stopped, or the company paused. */
  stop(): void {
    this.isStopped = true;
    this.end();
  }

  leaseLost(): void {
    this.#leaseIsLost = true;
    this.end();
  }

  /** Called after each step that may be the last, and by a timer: a forgotten batch would hold its lease forever. */
  endIfDone(): void {
    if (this.state === "over" || this.#preparing || this.unrecorded + this.handedOver + this.ready.length > 0) return;
    if (this.state === "open" && this.#endsWhenEmpty) {
      this.end();
      return;
    }
    if (this.state === "open" && !this.source.exhausted) return;
    const complete = this.state === "open";
    this.state = "over";
    this.#resolveOver({ complete, leaseIsLost: this.#leaseIsLost });
  }

  /** The lease is released: nothing of the batch is marked in the database. */
  leaseReturned(): void {
    for (const permit of this.#reserved.values()) permit.end();
    this.#reserved.clear();
  }
}
