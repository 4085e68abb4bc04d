/**
 * Mails to cc and bcc, each in a transaction of its own behind its primary. The primary has been accepted, whatever becomes
 * of its copy; it is recorded when that is through, so a copy cannot wait for ever.
 */
import type { PreparedMail } from "../delivery/prepared-mail.ts";
import type { TransactionResult } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";

/** Sessions that ended before the copy could be sent. */
const TRIES = 3;
/** So often the server was not there again: about ten minutes of back-off. */
const WAITS = 8;

export class CopyQueue {
  #waiting: PreparedMail[] = [];
  #notOpened = 0;

  get size(): number {
    return this.#waiting.length;
  }

  add(primary: PreparedMail, accepted: Reply): void {
    this.#waiting.push({ ...primary, ...primary.copy, copy: undefined, accepted, primary, unsent: 0 });
  }

  next(): PreparedMail | undefined {
    return this.#waiting.shift();
  }

  answered(copy: PreparedMail, verdict: TransactionResult, closed: boolean): void {
    if (verdict.kind === "unsent" && !closed && ++copy.unsent < TRIES) this.#waiting.push(copy);
    else this.#over(copy);
  }

  #over({ primary, accepted }: PreparedMail): void {
    primary!.batch.answered(primary!, { status: "sent", error: null, reply: accepted }, null, true);
  }

  opened(): void {
    this.#notOpened = 0;
  }

  notOpened(forGood: boolean): void {
    if (forGood || ++this.#notOpened >= WAITS) this.end();
  }

  end(): void {
    for (const copy of this.#waiting.splice(0)) this.#over(copy);
  }
}
