/**
 * Whether a server takes mail at the moment, as one sender sees it from the results. Pure: the clock is given.
 *
 * working    Mail goes out over as many connections as there may be.
 * paused     Nothing goes out until the pause is over. Pauses begin at 2 s (or the retry base, where that is less) and
 *            double up to 5 minutes; recipients' tries are not spent.
 * probing    One connection with one mail. Accepted: working. Refused for now: paused again, for twice as long.
 *
 * What pauses a server that works: no connection can be opened, or a connection ends before it took any mail; MAIL is
 * refused with 4xx, from the first one; DATA, the end of data or RCPT is refused with 4xx and the same text five times in
 * a row with nothing accepted between. At RCPT a text that speaks of the mailbox or of greylisting is that recipient's
 * own wait and does not count. Only an accepted message ends it: a connection that opens proves nothing.
 */
import { isRecipientsOwnWait, repeatedText } from "../delivery/refusals.ts";
import type { TransactionResult } from "../smtp/message.ts";

const EQUAL_REFUSALS = 5;
const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 5 * 60_000;
const JITTER = 0.2;

/** `count`: pauses before this one since the last accepted message. A fifth more or less at random, so that nodes part. */
export function pauseMs(count: number, retryBaseMs: number, random: () => number = Math.random): number {
  const first = Math.min(FIRST_PAUSE_MS, retryBaseMs);
  const ms = Math.min(first * 2 ** Math.min(count, 30), Math.max(first, Math.min(MAX_PAUSE_MS, retryBaseMs * 5)));
  return Math.round(ms * (1 + JITTER * (2 * random() - 1)));
}

export type ServerMode = "working" | "paused" | "probing";

export class ServerHealth {
  mode: ServerMode = "working";
  #text = "";
  #equal = 0;

  /** A message was accepted. True: it ended a back-off. */
  accepted(): boolean {
    this.#equal = 0;
    const recovered = this.mode !== "working";
    this.mode = "working";
    return recovered;
  }

  /** The reason to pause, where this result is one. */
  reasonToPause(result: TransactionResult): string | undefined {
    if (result.kind !== "refused" || result.reply.code >= 500) {
      // A permanent refusal is an answer like any other: the server is at work.
      if (result.kind === "refused") this.#equal = 0;
      return undefined;
    }
    const { stage, reply } = result;
    if (stage === "rcpt" && isRecipientsOwnWait(reply)) return undefined;
    if (stage === "mail" || this.mode !== "working") return reply.text;
    const text = repeatedText(reply) ?? reply.text;
    this.#equal = text === this.#text ? this.#equal + 1 : 1;
    this.#text = text;
    return this.#equal >= EQUAL_REFUSALS ? reply.text : undefined;
  }

  pause(): void {
    this.#equal = 0;
    this.mode = "paused";
  }

  probe(): void {
    this.mode = "probing";
  }
}
