/**
 * What an SMTP answer means for the recipient, the campaign and the address (api-decisions, "SMTP answers"). Pure.
 *
 *   stage      answer                                           recipient   event           further
 *   any        2xx to the final dot                             sent        delivered
 *   any        4xx, or given up before the final dot            deferred                    failed after 12 tries
 *   any        final dot without answer, marketing              unknown                     resume sends it
 *   any        final dot without answer, transactional          deferred                    sent again
 *   MAIL       5xx (but 552, 5.3.4: too large; 5.6.7)           queued                      stops the campaign
 *   RCPT/DOT   5xx x.7.x, or it speaks of spam, blocks or us    failed      bounced, block  20 in a row stop the campaign
 *   RCPT/DOT   5.2.2, or its text speaks of a quota             failed      bounced, soft
 *   RCPT       5.1.x, 5.2.x (but 5.2.3), or no enhanced code    bounced     bounced, hard   suppressed, subscriber bounced
 *   else       5xx                                              failed
 */
import type { RefusedStage, TransactionResult } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";

export type BounceType = "hard" | "soft" | "block";

export interface Outcome {
  status: "sent" | "deferred" | "failed" | "bounced" | "suppressed" | "unknown" | "queued";
  /** A sentence for the user; null for sent. */
  error: string | null;
  reply: Reply | null;
  bounce?: BounceType;
  /** Stops the whole campaign, with this sentence. */
  stops?: string;
}

export const MAX_TRIES = 12;

// Words of filters, whatever the code says: a wrongly suppressed address is a lost customer, a block is tried again.
const BLOCKED =
  /\bspam|\bblock(?:ed|list)|black\s?list|(?<!not )\blisted (?:in|on|by|at)\b|barracuda|\b(?:dnsr?|[drsux]|sur|uri)bl\b|reputation|unsolicited|bulk mail|\babus/i;
// Refusals of us, not of the recipient: Postfix tells them at RCPT, and one such mistake would suppress a whole list.
const OF_SENDER =
  /\bsender(?:'s)? (?:address|domain|verif|ip\b|host|is not|not|rejected|refused|denied)|\bverification failed for\b/i;
/** Bad sender's address, bad sender's system (RFC 3463). */
const SENDER_CODES = /^5\.1\.[78]$/;
/** Without an enhanced code: not logged in, not the time for it. */
const SESSION_CODES = new Set([503, 530, 534, 535, 538]);
/** Too long for this mailbox: another mail may fit. */
const TOO_LONG = "5.2.3";
// The same, where no enhanced code says which.
const POLICY =
  /policy|\bdenied\b|not (?:allowed|authori[sz]ed|permitted)|relay|dmarc|\bspf\b|dkim|banned|prohibited|\bauth|starttls|\bhelo\b|\behlo\b/i;
const QUOTA = /quota|mailbox (?:is )?full|over\s?quota|insufficient (?:system )?storage/i;

export function refusalOf({ code, enhanced, text }: Reply): BounceType | "other" {
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

export interface Tried {
  /** Tries made, this one included. */
  tries: number;
  isTransactional: boolean;
}

function decided(verdict: TransactionResult, isTransactional: boolean): Outcome {
  switch (verdict.kind) {
    case "accepted":
      return { status: "sent", error: null, reply: verdict.reply };
    case "refused":
      return refused(verdict.stage, verdict.reply);
    case "unsent":
      return { status: "deferred", error: `Not accepted: ${verdict.reason}`, reply: verdict.reply ?? null };
    case "impossible":
      return { status: "failed", error: verdict.reason, reply: null };
    case "doubt":
      return {
        status: isTransactional ? "deferred" : "unknown",
        error: `The SMTP server did not confirm the message: ${verdict.reason}`,
        reply: null,
      };
  }
}

export function outcomeOf(verdict: TransactionResult, { tries, isTransactional }: Tried): Outcome {
  const outcome = decided(verdict, isTransactional);
  if (outcome.status !== "deferred" || tries < MAX_TRIES) return outcome;
  return { ...outcome, status: "failed", error: `Given up after ${tries} tries. ${outcome.error}` };
}
