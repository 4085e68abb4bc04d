/**
 * Mails to cc and bcc, each in a transaction of its own after its primary. The primary has been accepted, whatever becomes
 * of its copy; it is recorded when the copy is through, so a copy must not wait for ever.
 */

import { MAX_FAILED_OPENINGS_PER_COPY, MAX_SESSIONS_PER_COPY } from "../delivery/back-off.ts";
import type { PreparedMail } from "../delivery/batch.ts";
import type { TransactionResult } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";

export class CopyQueue {
  #waiting: PreparedMail[] = [];
  #failedOpenings = 0;

  get size(): number {
    return this.#waiting.length;
  }

  add(primary: PreparedMail, accepted: Reply): void {
    this.#waiting.push({ ...primary, ...primary.copy, copy: undefined, accepted, primary, endedSessions: 0 });
  }

  next(): PreparedMail | undefined {
    return this.#waiting.shift();
  }

  answered(copy: PreparedMail, result: TransactionResult, closed: boolean): void {
    if (result.kind === "unsent" && !closed && ++copy.endedSessions < MAX_SESSIONS_PER_COPY) this.#waiting.push(copy);
    else this.#finish(copy);
  }

  #finish({ primary, accepted }: PreparedMail): void {
    primary!.batch.answered(primary!, { status: "sent", error: null, reply: accepted }, null, true);
  }

  opened(): void {
    this.#failedOpenings = 0;
  }

  notOpened(permanent: boolean): void {
    if (permanent || ++this.#failedOpenings >= MAX_FAILED_OPENINGS_PER_COPY) this.giveUp();
  }

  /** Their primaries are recorded as sent. */
  giveUp(): void {
    for (const copy of this.#waiting.splice(0)) this.#finish(copy);
  }
}
