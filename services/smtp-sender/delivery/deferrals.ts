/** A server that takes nobody's mail for now is left alone before it has turned away the whole list. */
import type { TransactionResult } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";

const TO_BACK_OFF = 20;

export class Deferrals {
  #inARow = 0;

  over(): void {
    this.#inARow = 0;
  }

  /** The refusal that was one too many. */
  seen(verdict: TransactionResult): Reply | undefined {
    const deferred = verdict.kind === "refused" && verdict.stage === "mail" && verdict.reply.code < 500;
    this.#inARow = deferred ? this.#inARow + 1 : 0;
    return deferred && this.#inARow >= TO_BACK_OFF ? verdict.reply : undefined;
  }
}
