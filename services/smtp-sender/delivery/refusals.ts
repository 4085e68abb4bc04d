/**
 * What a permanent refusal (5xx) says about the mailbox. Pure.
 *
 * hard   the mailbox does not exist: it is suppressed and never mailed again
 * soft   the mailbox exists and cannot take this mail: full, over a quota, or the mail is too long for it
 * block  the server refuses us, this mail or this sender: nobody is suppressed, and the same text to many recipients in
 *        a row stops the campaign
 * other  none of these: the recipient fails, without an event
 *
 * A wrongly suppressed address is a lost customer, and a server that is configured wrongly says the same to every
 * recipient. So a refusal without an enhanced status code (RFC 3463) is hard only where its text speaks of the mailbox.
 */

import type { Reply } from "../smtp/replies.ts";
import type { RefusedStage } from "../smtp/transaction.ts";

export type BounceType = "hard" | "soft" | "block";

/** Words of filters; they decide whatever the code says. */
const FILTER =
  /\bspam|\bblock(?:ed|list)|black\s?list|(?<!not )\blisted (?:in|on|by|at)\b|barracuda|\b(?:dnsr?|[drsux]|sur|uri)bl\b|reputation|unsolicited|bulk mail|\babus/i;
/** Refusals of the sender. Postfix gives them at RCPT, and one such mistake would suppress a whole list. */
const SENDER =
  /\bsender(?:'s)? (?:address|domain|verif|ip\b|host|is not|not|rejected|refused|denied)|\bverification failed for\b/i;
/** Bad sender's mailbox address, bad sender's system address (RFC 3463 section 3.2). */
const SENDER_CODES = /^5\.1\.[78]$/;
/** Without an enhanced code: unrecognized, out of sequence, not logged in. */
const SESSION_CODES = new Set([500, 501, 502, 503, 504, 530, 534, 535, 538]);
/** Message too long for this mailbox: another mail may fit. */
const TOO_LONG = "5.2.3";

const POLICY =
  /policy|\bdenied\b|not (?:allowed|authori[sz]ed|permitted|verified)|relay|rcpthosts|dmarc|\bspf\b|dkim|banned|prohibited|\bauth|starttls|\bhelo\b|\behlo\b|reverse dns|\bptr\b|\blimit|exceed|too many|\brate\b/i;
const QUOTA = /quota|mailbox (?:is )?full|over\s?quota|insufficient (?:system )?storage/i;

const MAILBOX_NOUN = "(?:user|mailbox|recipient|account|addressee|alias|person|local[- ]part)";
const MAILBOX_STATE =
  "(?:unknown|invalid|disabled|inactive|suspended|deactivated|closed|moved|expired|unavailable|no longer|(?:is )?not (?:exist|found|known|local|here|valid|active|available|listed|recogni[sz]ed|our)|(?:does|do)(?:n't| not) exist|isn't)";
const MAILBOX = new RegExp(
  [
    `\\b${MAILBOX_NOUN}s?\\b.{0,60}\\b${MAILBOX_STATE}`,
    `\\b(?:unknown|invalid|inactive|disabled|non-?existent|no such|no|not a valid|bad(?: destination)?)\\s+(?:\\w+\\s+)?${MAILBOX_NOUN}`,
    "\\bunroute?able address|\\baddress (?:unknown|not found|does(?:n't| not) exist)|\\b(?:unknown|no such) (?:local )?address",
    "\\bno one (?:here )?by that name",
  ].join("|"),
  "i",
);

const GREYLIST = /gr[ae]y-?list/i;
/** A full one. "Daily quota exceeded" may be the sender's own. */
const FULL_MAILBOX = new RegExp(`\\b${MAILBOX_NOUN}.{0,60}(?:full|quota)|over\\s?quota`, "i");

const isOfMailbox = (text: string): boolean => MAILBOX.test(text) && !POLICY.test(text);

export function refusalKind({ code, enhanced, text }: Reply): BounceType | "other" {
  if (/^5\.7\./.test(enhanced) || SENDER_CODES.test(enhanced)) return "block";
  if (FILTER.test(text) || SENDER.test(text)) return "block";
  if (enhanced === "5.2.2" || enhanced === TOO_LONG || (!enhanced && (QUOTA.test(text) || code === 552))) return "soft";
  if (!enhanced) return !SESSION_CODES.has(code) && isOfMailbox(text) ? "hard" : "block";
  return /^5\.[12]\./.test(enhanced) ? "hard" : "other";
}

/**
 * A temporary refusal (4xx) at RCPT that concerns this recipient alone: its mailbox, or greylisting, which asks every
 * recipient to wait once. Any other may be the state of the whole server.
 */
export const isRecipientsOwnWait = ({ enhanced, text }: Reply): boolean =>
  /^4\.[12]\./.test(enhanced) || GREYLIST.test(text) || (!enhanced && isOfMailbox(text));

/** A temporary refusal that is a soft bounce once the tries are used up: the mailbox has taken nothing all the while. */
export const isMailboxThatTakesNothing = ({ enhanced, text }: Reply): boolean =>
  enhanced ? /^4\.2\./.test(enhanced) && !GREYLIST.test(text) : FULL_MAILBOX.test(text) && !POLICY.test(text);

/**
 * A temporary refusal on a session that has taken mail: the server has had enough of this session (OpenSMTPD says `452
 * 4.5.3 Too many messages` after 100), and the next one may go on.
 */
export const isSessionUsedUp = ({ stage, reply }: { stage: RefusedStage; reply: Reply }): boolean =>
  reply.code < 500 &&
  (stage === "mail" ||
    reply.enhanced === "4.5.3" ||
    /too many (?:messages|mails|transactions|recipients)/i.test(reply.text));

/**
 * A refusal at RCPT that only says that a transaction may have no more recipients (RFC 5321 section 4.5.3.1.10). Old servers
 * say it with 552, which is to be read as 452.
 */
export const isTooManyRecipients = ({ code, enhanced, text }: Reply): boolean =>
  (code === 452 || code === 552) && (/^[45]\.5\.3$/.test(enhanced) || /too many recipients/i.test(text));

const MAX_TEXT = 200;

/**
 * What is the same in a refusal that a server gives to many recipients: its text without addresses and without what
 * holds a digit (queue ids, times). Undefined where the text speaks of the mailbox: such refusals do not stop a campaign.
 */
export function repeatedText({ code, text }: Reply): string | undefined {
  if ((MAILBOX.test(text) || FULL_MAILBOX.test(text)) && !SENDER.test(text)) return undefined;
  const words = text
    .slice(3)
    .toLowerCase()
    .replace(/\S*@\S*/g, "@")
    .replace(/\S*\d\S*/g, "#")
    .replace(/\s+/g, " ")
    .trim();
  return `${code} ${words}`.slice(0, MAX_TEXT);
}
