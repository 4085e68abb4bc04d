/**
 * Whether a server takes mail at the moment, as one sender sees it from the results. Pure.
 *
 * working    Mail goes out over as many connections as there may be.
 * paused     Nothing goes out until the pause in the configuration's row is over (delivery/back-off.ts).
 * probing    One connection with one mail. Accepted: working. Refused for now: paused again, for twice as long.
 *
 * A server that works is paused when no connection can be opened, or one ends before it took any mail; when MAIL is refused
 * with 4xx, from the first one, on a session that has not taken any mail (else that session is used up); when DATA, the end of data or RCPT is refused with 4xx and the same text five times in a
 * row with nothing accepted between. At RCPT a text that speaks of the mailbox or of greylisting is that recipient's own
 * wait and does not count. Only an accepted message ends it: a connection that opens proves nothing. A mail whose refusal
 * pauses the server does not count as a try; those before it do.
 */
import { isRecipientsOwnWait, repeatedText } from "../delivery/refusals.ts";
import type { TransactionResult } from "../smtp/transaction.ts";

const EQUAL_REFUSALS = 5;

type ServerMode = "working" | "paused" | "probing";

export class ServerHealth {
  mode: ServerMode;
  #text = "";
  #equal = 0;

  constructor(mode: ServerMode) {
    this.mode = mode;
  }

  /** A message was accepted. One that was under way when the pause began does not end it. */
  accepted(): void {
    this.#equal = 0;
    if (this.mode === "probing") this.mode = "working";
  }

  /** Why this result pauses the server; undefined where it does not. */
  reasonToPause(result: TransactionResult): string | undefined {
    if (result.kind !== "refused") return undefined;
    const { stage, reply } = result;
    if (reply.code >= 500) {
      this.#equal = 0;
      return undefined;
    }
    if (stage === "rcpt" && isRecipientsOwnWait(reply)) return undefined;
    if (stage === "mail" || this.mode !== "working") return reply.text;
    const text = repeatedText(reply) ?? reply.text;
    this.#equal = text === this.#text ? this.#equal + 1 : 1;
    this.#text = text;
    return this.#equal >= EQUAL_REFUSALS ? reply.text : undefined;
  }

  become(mode: ServerMode): void {
    this.#equal = 0;
    this.mode = mode;
  }
}
