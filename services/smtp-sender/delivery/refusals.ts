/** Interprets live refusals of SMTP servers for the mailbox and the session (lib/replies/classify.ts). Pure. */
import { type Classified, classify } from "../../lib/replies/classify.ts";
import {
  type BounceKind,
  concernsMailbox,
  MEANINGS,
  type Meaning,
  type RefusalKind,
} from "../../lib/replies/meanings.ts";
import { meaningOfText } from "../../lib/replies/words.ts";
import type { Reply } from "../smtp/replies.ts";
import type { RefusedStage } from "../smtp/transaction.ts";

export type BounceType = BounceKind;

const classified = ({ enhanced, text }: Reply): Classified => classify({ text, status: enhanced });

export const refusalKind = (reply: Reply): RefusalKind => MEANINGS[classified(reply).meaning];

/**
 * True for a 4xx at RCPT that concerns only this recipient: its mailbox, or greylisting, which defers every recipient
 * once. Any other may concern the whole server.
 */
export function isRecipientsOwnWait({ enhanced, text }: Reply): boolean {
  if (/^4\.[12]\./.test(enhanced)) return true;
  const meaning = meaningOfText(text);
  return meaning === "greylisted" || (!enhanced && concernsMailbox(meaning));
}

/** True for a 4xx that becomes a soft bounce after the last try: the mailbox accepted nothing. */
export const isMailboxRefusal = (reply: Reply): boolean => refusalKind(reply) === "soft";

/**
 * True for a 4xx after accepted email that ends the session's allowance (OpenSMTPD says `452 4.5.3 Too many messages`
 * after 100); the next session can continue.
 */
export const isSessionUsedUp = ({ stage, reply }: { stage: RefusedStage; reply: Reply }): boolean =>
  reply.code < 500 &&
  (stage === "mail" ||
    reply.enhanced === "4.5.3" ||
    /too many (?:messages|mails|transactions|recipients)/i.test(reply.text));

/**
 * True for a refusal at RCPT that only limits the recipients per transaction (RFC 5321 section 4.5.3.1.10). Old servers
 * use 552, to be read as 452.
 */
export const isTooManyRecipients = ({ code, enhanced, text }: Reply): boolean =>
  (code === 452 || code === 552) && (/^[45]\.5\.3$/.test(enhanced) || /too many recipients/i.test(text));

/**
 * Meanings that do not stop a campaign if the enhanced code is about a system, protocol or content: they may concern
 * one recipient's server.
 */
const VAGUE_MEANINGS: ReadonlySet<Meaning> = new Set(["content-refused", "unknown-reason"]);

/** True if the refusal counts towards stopping the campaign: no enhanced code, x.7.x, or a filter's wording. */
export function mayStopCampaign(reply: Reply): boolean {
  if (!reply.enhanced || reply.enhanced.startsWith("5.7.")) return true;
  const { meaning } = classified(reply);
  return MEANINGS[meaning] === "block" && !VAGUE_MEANINGS.has(meaning);
}

const MAX_TEXT = 200;

/**
 * The constant part of a refusal to many recipients: its text without addresses and without words containing digits
 * (queue ids, times). Undefined if the text is about the mailbox, which does not stop a campaign.
 */
export function repeatedText({ code, text }: Reply): string | undefined {
  if (concernsMailbox(meaningOfText(text))) return undefined;
  const words = text
    .slice(3)
    .toLowerCase()
    .replace(/\S*@\S*/g, "@")
    .replace(/\S*\d\S*/g, "#")
    .replace(/\s+/g, " ")
    .trim();
  return `${code} ${words}`.slice(0, MAX_TEXT);
}
