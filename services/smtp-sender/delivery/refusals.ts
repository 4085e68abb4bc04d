/** Meaning of an SMTP server's refusal for the mailbox and the session: lib/replies/classify.ts, asked for live answers. Pure. */
import { type Classified, classify } from "../../lib/replies/classify.ts";
import { type BounceKind, isOfMailbox, MEANINGS, type Meaning, type RefusalKind } from "../../lib/replies/meanings.ts";
import { meaningOfText } from "../../lib/replies/words.ts";
import type { Reply } from "../smtp/replies.ts";
import type { RefusedStage } from "../smtp/transaction.ts";

export type BounceType = BounceKind;

const classified = ({ enhanced, text }: Reply): Classified => classify({ text, status: enhanced });

export const refusalKind = (reply: Reply): RefusalKind => MEANINGS[classified(reply).meaning];

/**
 * A temporary refusal (4xx) at RCPT that concerns this recipient alone: its mailbox, or greylisting, which asks every
 * recipient to wait once. Any other may be the state of the whole server.
 */
export function isRecipientsOwnWait({ enhanced, text }: Reply): boolean {
  if (/^4\.[12]\./.test(enhanced)) return true;
  const meaning = meaningOfText(text);
  return meaning === "greylisted" || (!enhanced && isOfMailbox(meaning));
}

/** A temporary refusal that is a soft bounce once the tries are used up: the mailbox has taken nothing all the while. */
export const isMailboxRefusal = (reply: Reply): boolean => refusalKind(reply) === "soft";

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

/** With an enhanced code of a system, a protocol or a content these do not stop a campaign: they may be one recipient's server's. */
const VAGUE_MEANINGS: ReadonlySet<Meaning> = new Set(["content-refused", "unknown-reason"]);

/** The refusal counts towards the stop after equal texts: it has no enhanced code, or x.7.x, or the words of a filter. */
export function mayStopCampaign(reply: Reply): boolean {
  if (!reply.enhanced || reply.enhanced.startsWith("5.7.")) return true;
  const { meaning } = classified(reply);
  return MEANINGS[meaning] === "block" && !VAGUE_MEANINGS.has(meaning);
}

const MAX_TEXT = 200;

/**
 * What is the same in a refusal that a server gives to many recipients: its text without addresses and without what
 * holds a digit (queue ids, times). Undefined where the text speaks of the mailbox: such refusals do not stop a campaign.
 */
export function repeatedText({ code, text }: Reply): string | undefined {
  if (isOfMailbox(meaningOfText(text))) return undefined;
  const words = text
    .slice(3)
    .toLowerCase()
    .replace(/\S*@\S*/g, "@")
    .replace(/\S*\d\S*/g, "#")
    .replace(/\s+/g, " ")
    .trim();
  return `${code} ${words}`.slice(0, MAX_TEXT);
}
