/**
 * The first transactions of copies (cc, bcc), each behind its mail: that one has been accepted, whatever becomes of them, and
 * is recorded together with their outcomes. So they wait for nothing: when the server is to be left alone, or the transport
 * ends, they are recorded as queued, and any node takes them up as retries.
 */
import type { CopyDelivery, PreparedCopies, PreparedMail } from "../delivery/batch.ts";
import { copyOutcomes, untriedCopy } from "../delivery/copies.ts";
import { copyMessages } from "../delivery/prepared-mail.ts";
import type { OutgoingMessage, TransactionResult } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";

export class CopyQueue {
  #waiting: PreparedMail[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  add(primary: PreparedMail, accepted: Reply): void {
    const copies = primary.copies!;
    const delivery: CopyDelivery = { primary, accepted, outcomes: [...copies.suppressed], underWay: 0 };
    for (const message of copies.messages) this.#push(delivery, message);
  }

  #push(delivery: CopyDelivery, message: PreparedCopies["messages"][number]): void {
    delivery.underWay++;
    const { addresses, ...outgoing } = message;
    const fresh: Partial<PreparedMail> & OutgoingMessage = { ...outgoing, copies: undefined, endedSessions: 0 };
    this.#waiting.push({ ...delivery.primary, ...fresh, copyOf: delivery, addresses });
  }

  next(): PreparedMail | undefined {
    return this.#waiting.shift();
  }

  again(copy: PreparedMail): void {
    this.#waiting.push(copy);
  }

  answered(mail: PreparedMail, result: TransactionResult, retryBaseMs: number): void {
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
    primary.batch.answered(primary, { status: "sent", error: null, reply: accepted }, null, true, outcomes);
  }

  /** Their mails are recorded as sent, they as queued. */
  giveUp(): void {
    for (const { copyOf, addresses } of this.#waiting.splice(0)) {
      copyOf!.outcomes.push(...addresses!.map(untriedCopy));
      this.#over(copyOf!);
    }
  }
}
