/**
 * Queues copies (cc, bcc) that follow their accepted email; the email is recorded together with their outcomes. Copies
 * therefore never wait for long: when the server is paused, or their batch or the transport ends, they are recorded as
 * queued and any node sends them as retries. At a slow server they are rechecked before they are sent, as emails are
 * (delivery/suppression.ts).
 */
import { performance } from "node:perf_hooks";
import { allowedCopies, copyOutcomes, untriedCopy } from "../delivery/copies.ts";
import { type CopyDelivery, copyMessages, type Mail, type MailBatch } from "../delivery/mail.ts";
import { checkAgain, MAX_CHECK_AGE_MS, RECHECK_AFTER_MS } from "../delivery/suppression.ts";
import type { DomainGate } from "../domains/domain-gate.ts";
import type { EngineContext } from "../engine/context.ts";
import type { Reply } from "../smtp/replies.ts";
import type { TransactionResult } from "../smtp/transaction.ts";

export class CopyQueue {
  readonly #context: EngineContext;
  readonly #domains: DomainGate;
  /** Checked copies that may be sent. */
  readonly #wake: () => void;
  #waiting: Mail[] = [];
  #rechecking = false;

  constructor(context: EngineContext, domains: DomainGate, wake: () => void) {
    this.#context = context;
    this.#domains = domains;
    this.#wake = wake;
  }

  get size(): number {
    return this.#waiting.length;
  }

  add(primary: Mail, accepted: Reply): void {
    const copies = primary.copies!;
    const delivery: CopyDelivery = { primary, accepted, outcomes: [...copies.suppressed], underWay: 0 };
    for (const message of copies.messages) this.#push(delivery, message);
  }

  #push(delivery: CopyDelivery, message: Parameters<Mail["copy"]>[1]): void {
    delivery.underWay++;
    this.#waiting.push(delivery.primary.copy(delivery, message));
  }

  /** Undefined also while the next one is being rechecked. */
  next(): Mail | undefined {
    for (let copy = this.#waiting.shift(); copy; copy = this.#waiting.shift()) {
      if (copy.batch.state !== "open" || !this.#domains.mayCopyTo(copy.addresses!)) {
        this.#queueAsRetries(copy);
      } else if (performance.now() - copy.checkedAtMs > MAX_CHECK_AGE_MS) {
        this.#waiting.unshift(copy);
        this.recheck();
        return undefined;
      } else {
        const allowed = this.#removeSuppressed(copy);
        if (allowed) return allowed;
      }
    }
    return undefined;
  }

  #removeSuppressed(copy: Mail): Mail | undefined {
    const { allowed, suppressed } = allowedCopies(copy.row, copy.addresses);
    if (suppressed.length === 0) return copy;
    copy.copyOf!.outcomes.push(...suppressed);
    const [message] = copyMessages(copy, allowed);
    if (message) return copy.copy(copy.copyOf!, message);
    this.#over(copy.copyOf!);
    return undefined;
  }

  /** Rechecks waiting copies; also called a few times per second. */
  recheck(): void {
    const now = performance.now();
    const old = this.#waiting.filter(({ checkedAtMs }) => now - checkedAtMs > RECHECK_AFTER_MS);
    if (this.#rechecking || old.length === 0) return;
    this.#rechecking = true;
    const byBatch = new Map<MailBatch, Mail[]>();
    for (const copy of old) byBatch.set(copy.batch, [...(byBatch.get(copy.batch) ?? []), copy]);
    const checks = [...byBatch].map(async ([{ campaign }, copies]) => {
      await checkAgain(this.#context.reads, campaign, [...new Set(copies.map(({ row }) => row))]);
      for (const copy of copies) copy.checkedAtMs = now;
    });
    Promise.all(checks)
      .catch((error: Error) => this.#context.outage.report(error))
      .finally(() => {
        this.#rechecking = false;
        this.#wake();
      });
  }

  again(copy: Mail): void {
    this.#waiting.push(copy);
  }

  answered(mail: Mail, result: TransactionResult): void {
    const { retryBaseMs } = this.#context.settings;
    const delivery = mail.copyOf!;
    const isTransactional = mail.batch.campaign.is_transactional;
    const tried = { to: mail.to, copies: mail.addresses!, isTransactional, retryBaseMs };
    const { outcomes, rest } = copyOutcomes(result, tried);
    delivery.outcomes.push(...outcomes);
    if (rest.length > 0) for (const message of copyMessages(mail, rest)) this.#push(delivery, message);
    this.#over(delivery);
  }

  #over(delivery: CopyDelivery): void {
    if (--delivery.underWay > 0) return;
    const { primary, accepted, outcomes } = delivery;
    primary.batch.record(primary, { status: "sent", error: null, reply: accepted }, null, true, outcomes);
  }

  #queueAsRetries({ copyOf, addresses }: Mail): void {
    copyOf!.outcomes.push(...addresses!.map(untriedCopy));
    this.#over(copyOf!);
  }

  /** Records their emails as sent and the copies as queued. */
  giveUp(): void {
    for (const copy of this.#waiting.splice(0)) this.#queueAsRetries(copy);
  }
}
