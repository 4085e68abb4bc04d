/**
 * What the result of an SMTP transaction means for the recipient, the campaign and the address. Pure.
 *
 *   stage      reply                                              recipient  event           further
 *   any        2xx to the final dot                               sent       delivered
 *   any        4xx, or given up before the final dot              deferred                   failed after 12 tries
 *   any        no reply to the final dot, newsletter              unknown                    resume sends it
 *   any        no reply to the final dot, transactional           deferred                   sent again
 *   MAIL       5xx (but 552, 5.3.4: too large; 5.6.7)             queued                     stops the campaign
 *   RCPT/DOT   5xx x.7.x, or its text names spam, a block list    failed     bounced, block  20 in a row stop the
 *              or the sender                                                                 campaign
 *   RCPT/DOT   5.2.2, or its text names a quota                   failed     bounced, soft
 *   RCPT       5.1.x, 5.2.x (but 5.2.3), or no enhanced code      bounced    bounced, hard   suppressed, and the
 *                                                                                            subscriber bounced
 *   else       5xx                                                failed
 */
import type { RefusedStage, TransactionResult } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";
import { MAX_TRIES } from "./back-off.ts";

export type BounceType = "hard" | "soft" | "block";

export interface Outcome {
  status: "sent" | "deferred" | "failed" | "bounced" | "suppressed" | "unknown" | "queued";
  /** A sentence for the user; null for sent. */
  error: string | null;
  reply: Reply | null;
  bounce?: BounceType;
  /** The whole campaign is stopped, for this reason. */
  stops?: string;
}

// Words of spam filters, whatever the code says: a wrongly suppressed address is a lost customer, whoever was blocked can be
// sent to again (resume).
const BLOCKED =
  /\bspam|\bblock(?:ed|list)|black\s?list|(?<!not )\blisted (?:in|on|by|at)\b|barracuda|\b(?:dnsr?|[drsux]|sur|uri)bl\b|reputation|unsolicited|bulk mail|\babus/i;
// Refusals of the sender, not of the recipient: Postfix gives them at RCPT, and one misread would suppress a whole list.
const OF_SENDER =
  /\bsender(?:'s)? (?:address|domain|verif|ip\b|host|is not|not|rejected|refused|denied)|\bverification failed for\b/i;
/** "Bad sender's mailbox address", "bad sender's system address" (RFC 3463). */
const SENDER_CODES = /^5\.1\.[78]$/;
/** Without an enhanced code: not logged in, or a bad sequence of commands. */
const SESSION_CODES = new Set([503, 530, 534, 535, 538]);
/** The message is too long for this mailbox; another may fit. */
const TOO_LONG = "5.2.3";
// Policy refusals where no enhanced code says so.
const POLICY =
  /policy|\bdenied\b|not (?:allowed|authori[sz]ed|permitted)|relay|dmarc|\bspf\b|dkim|banned|prohibited|\bauth|starttls|\bhelo\b|\behlo\b/i;
const QUOTA = /quota|mailbox (?:is )?full|over\s?quota|insufficient (?:system )?storage/i;

function refusalOf({ code, enhanced, text }: Reply): BounceType | "other" {
  if (/^5\.7\./.test(enhanced) || SENDER_CODES.test(enhanced)) return "block";
  if (BLOCKED.test(text) || OF_SENDER.test(text)) return "block";
  if (enhanced === "5.2.2" || (!enhanced && (QUOTA.test(text) || code === 552))) return "soft";
  if (!enhanced) return SESSION_CODES.has(code) || POLICY.test(text) ? "block" : "hard";
  return /^5\.[12]\./.test(enhanced) && enhanced !== TOO_LONG ? "hard" : "other";
}

const tooLarge = ({ code, enhanced }: Reply) => code === 552 || enhanced === "5.3.4" || enhanced === "5.6.7";

function refused(stage: RefusedStage, reply: Reply): Outcome {
  if (reply.code < 500) return { status: "deferred", error: `Deferred: ${reply.text}`, reply };
  const failed = { status: "failed" as const, error: `Refused: ${reply.text}`, reply };
  if (stage === "mail") {
    if (tooLarge(reply)) return failed;
    const stops = `The SMTP server refused the sender address: ${reply.text}`;
    return { status: "queued", error: null, reply: null, stops };
  }
  const kind = refusalOf(reply);
  if (kind === "block" || kind === "soft") return { ...failed, bounce: kind };
  if (kind === "hard" && stage === "rcpt") return { ...failed, status: "bounced", bounce: "hard" };
  return failed;
}

interface Tried {
  /** Tries made, this one included. */
  tries: number;
  isTransactional: boolean;
}

function decided(result: TransactionResult, isTransactional: boolean): Outcome {
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
  const outcome = decided(result, isTransactional);
  if (outcome.status !== "deferred" || tries < MAX_TRIES) return outcome;
  return { ...outcome, status: "failed", error: `Given up after ${tries} tries. ${outcome.error}` };
}
