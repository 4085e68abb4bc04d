/**
 * Decides what the result of an SMTP transaction means for the recipient and the campaign. Earlier steps (AFTER_SMTP in
 * steps.ts) have already handled session limits, paused servers and 4xx at MAIL. Pure. Only the recipient column
 * applies to copies: they never suppress and never stop a campaign.
 *
 *   stage           reply                                          recipient   event           further
 *   end of data     2xx                                            sent        delivered
 *   any             4xx, or the session ended before the dot       deferred                    failed after 12 tries; of a full mailbox: bounced, soft
 *   end of data     none after the dot, marketing                  unknown                     resume sends it
 *   end of data     none after the dot, transactional              deferred                    sent again
 *   MAIL            5xx (but 552, 5.3.4: too large; 5.6.7)         queued                      stops the campaign
 *   after MAIL      5xx of the kind block (lib/replies)            failed      bounced, block  the same text 20 times in a row stops the campaign (mayStopCampaign)
 *   after MAIL      5xx of the kind soft                           failed      bounced, soft   the same; the fifth in a row suppresses (record-outcomes.ts)
 *   RCPT            5xx of the kind hard                           bounced     bounced, hard   suppressed, subscriber bounced
 *   else            5xx                                            failed
 */

import type { Reply } from "../smtp/replies.ts";
import type { RefusedStage, TransactionResult } from "../smtp/transaction.ts";
import { MAX_TRIES } from "./back-off.ts";
import { type BounceType, isMailboxRefusal, mayStopCampaign, refusalKind, repeatedText } from "./refusals.ts";

export interface Outcome {
  status: "sent" | "deferred" | "failed" | "bounced" | "suppressed" | "unknown" | "queued";
  /** A sentence for the user; null for sent. */
  error: string | null;
  reply: Reply | null;
  bounce?: BounceType;
  /** Normalized text of the refusal; many equal refusals in a row stop the campaign. */
  repeated?: string | undefined;
  /** Error sentence with which the whole campaign is stopped. */
  stops?: string;
}

/** Not tried. */
export const QUEUED: Outcome = { status: "queued", error: null, reply: null };

const tooLarge = ({ code, enhanced }: Reply) => code === 552 || enhanced === "5.3.4" || enhanced === "5.6.7";

function refused(stage: RefusedStage, reply: Reply): Outcome {
  if (reply.code < 500) return { status: "deferred", error: `Deferred: ${reply.text}`, reply };
  const failed = { status: "failed" as const, error: `Refused: ${reply.text}`, reply };
  if (stage === "mail") {
    if (tooLarge(reply)) return failed;
    const stops = `The SMTP server refused the sender address: ${reply.text}`;
    return { status: "queued", error: null, reply: null, stops };
  }
  const kind = refusalKind(reply);
  if (kind === "block" || kind === "soft") {
    return { ...failed, bounce: kind, repeated: mayStopCampaign(reply) ? repeatedText(reply) : undefined };
  }
  if (kind === "hard" && stage === "rcpt") return { ...failed, status: "bounced", bounce: "hard" };
  return failed;
}

interface Tried {
  /** Tries made, including this one. */
  tries: number;
  isTransactional: boolean;
}

function outcomeOfResult(result: TransactionResult, isTransactional: boolean): Outcome {
  switch (result.kind) {
    case "accepted":
      return { status: "sent", error: null, reply: result.reply };
    case "refused":
      return refused(result.stage, result.reply);
    case "unsent":
      return { status: "deferred", error: `Not accepted: ${result.reason}`, reply: result.reply ?? null };
    case "impossible":
      return { status: "failed", error: result.reason, reply: null };
    case "doubt":
      return {
        status: isTransactional ? "deferred" : "unknown",
        error: `The SMTP server did not confirm the message: ${result.reason}`,
        reply: null,
      };
  }
}

export function outcomeOf(result: TransactionResult, { tries, isTransactional }: Tried): Outcome {
  const outcome = outcomeOfResult(result, isTransactional);
  if (outcome.status !== "deferred" || tries < MAX_TRIES) return outcome;
  const failed: Outcome = { ...outcome, status: "failed", error: `Given up after ${tries} attempts. ${outcome.error}` };
  return outcome.reply && isMailboxRefusal(outcome.reply) ? { ...failed, bounce: "soft" } : failed;
}
