/** Keeps emails of a server's batches ready for its connections: decides which batch prepares how many, and when. */
import { performance } from "node:perf_hooks";
import type { Batch, BatchServer } from "../delivery/batch.ts";
import type { DomainGate } from "../domains/domain-gate.ts";
import type { EngineContext } from "../engine/context.ts";
import type { BudgetClient } from "../limits/in-doubt-budget.ts";
import { BatchQueue } from "./batch-queue.ts";
import type { Connections } from "./connections.ts";
import type { ServerPauses } from "./health.ts";
import { ThroughputMeter } from "./throughput-meter.ts";

const SLOW_MS = 1_000;
/** Maximum memory of rendered emails in the process. Any server may hold one email of any size. */
const MAX_MAIL_BYTES = 48 * 1024 * 1024;

interface Parts {
  connections: Connections;
  pauses: ServerPauses;
  domains: DomainGate;
}

export class Preparation implements BudgetClient, BatchServer {
  held = 0;
  slow = false;
  mailBytes = 1;
  readonly queue = new BatchQueue();
  readonly throughput = new ThroughputMeter();
  /** Called when there may be something to send. */
  readonly wake: () => void;
  readonly #context: EngineContext;
  readonly #parts: Parts;

  constructor(context: EngineContext, parts: Parts, wake: () => void) {
    this.#context = context;
    this.#parts = parts;
    this.wake = wake;
  }

  budgetReturned(): void {
    this.wake();
  }

  fillAll(): void {
    if (this.#parts.connections.size > 0) for (const batch of this.queue.inTurn) this.fill(batch);
  }

  /** Lets the batch prepare its next emails if the limits allow some. */
  readonly fill = (batch: Batch): void => {
    if (!batch.mayPrepare) return;
    const allowed = this.#allowance(batch);
    if (allowed === 0) return;
    this.queue.prepared(batch);
    void batch.prepare(allowed, this.#parts.connections.size).then((pauseMs) => {
      if (pauseMs > 0) setTimeout(() => this.fill(batch), pauseMs + 1).unref();
    });
  };

  /**
   * Number of recipients that a batch may prepare now. A server's share follows its throughput: two recipients per
   * connection (one being answered, one waiting), plus as many as it recorded recently.
   */
  #allowance(batch: Batch): number {
    const { connections, pauses, domains } = this.#parts;
    const { size } = connections;
    if (size === 0) return 0;
    if (!pauses.working && (!pauses.maySend || this.queue.anyReady)) return 0;
    const busy = pauses.working ? 2 * size + (this.slow ? 0 : 2 * this.throughput.recent) : 1;
    const window = Math.min(this.#context.settings.maxInDoubt, busy, this.#memoryAllows);
    const waiting = domains.waiting(batch.ready);
    const connectionIdle = batch.ready.length === waiting && connections.busy < size;
    let held = this.held;
    for (const one of this.queue.all) held -= one.reserved + one.promised + domains.waiting(one.ready);
    return this.queue.allowance(batch, { window, held, waiting, connectionIdle });
  }

  /** Limits emails of a megabyte to dozens instead of hundreds. */
  get #memoryAllows(): number {
    const free = MAX_MAIL_BYTES - this.#context.budget.bytes;
    return Math.max(1, this.held + Math.floor(free / this.mailBytes));
  }

  /** Approximates the largest of the last hundred mails: a small one says nothing about those in progress. */
  noteMailBytes(bytes: number): void {
    this.mailBytes = Math.max(1, bytes, Math.floor(this.mailBytes * 0.99));
  }

  recorded(n: number): void {
    this.throughput.add(n);
    for (const batch of this.queue.inTurn) {
      this.fill(batch);
      if (!batch.askedForMore && batch.left < this.throughput.readAheadAt) {
        batch.askedForMore = true;
        this.#context.claims.check();
      }
    }
  }

  /** Called a few times per second. A server that does not answer keeps no ready emails. */
  tick(): void {
    this.throughput.tick();
    const now = performance.now();
    let oldest = 0;
    for (const { busySince } of this.#parts.connections.all) {
      if (busySince !== undefined) oldest = Math.max(oldest, now - busySince);
    }
    const slow = oldest > SLOW_MS;
    if (slow && !this.slow) for (const batch of [...this.queue.all]) batch.returnReady();
    this.#context.budget.setSlow(this, slow);
    for (const batch of [...this.queue.all]) {
      batch.recheck();
      batch.endIfDone();
    }
  }
}
