/**
 * Finds recipients and their reasons in notices for people. A few layouts cover nearly all servers: an address at the
 * beginning of a line with the reason behind or below it (qmail, Postfix, Exim, sendmail, Yahoo), an address in a
 * sentence, or one in a pasted SMTP dialogue (`>>> RCPT TO:<ann@example.com>`).
 */
import { findAddresses, isSameAddress } from "./addresses.ts";

export interface NamedRecipient {
  address: string;
  /** Text from the recipient's line up to the next recipient. */
  words: string;
  /** Text before the address, if it is the only recipient. */
  before: string;
}

const MAX_NOTICE = 16 * 1_024;
const MAX_RECIPIENTS = 100;
const MAX_WORDS = 2_000;

/** Addresses of support staff, not of recipients. */
const OF_STAFF =
  /^(?:postmaster|mailer-daemon|abuse|helpdesk|hostmaster|mail-daemon|mailerdaemon|noc|double-bounce)@|@(?:spamhaus|mail-abuse|example\.invalid)\b/i;
/** Text before an address that marks it as a recipient. */
const AT_BEGINNING = /^[\s>*•|-]{0,12}(?:[45]\d\d[ -](?:[45]\.\d{1,3}\.\d{1,3} )?)?(?:<|"|'|\(|&lt;)?$/;
/** Introduction of a list of recipients; addresses before it may be the message's To and From. */
const INTRODUCTION =
  /did not reach the following recipient|following (?:e-?mail )?(?:address|recipient)|(?:was|were|be|been|is) (?:not |un)?(?:able to be )?deliver(?:ed|able) to(?: the following)?(?: address| recipient)?|cannot be delivered to|unable to deliver (?:your |the )?(?:message|mail) to|had (?:permanent|delivery|transient)|undeliverable to/i;
const LABELLED =
  /(?:rcpt to|recipients?(?: address| name)?(?:es)?|addressed(?: to)?|failed address|e-?mail address|address(?:ee|es)?|mailbox|user|account|final-recipient|original-recipient|delivered to|deliver(?:y|ed)?(?: (?:your|the|a|this) (?:message|mail|e-?mail))?(?: failed)?(?: to)?|(?:message|mail|e-?mail|sent|send) to|failed|undeliverable|\bto|destinataire|empf[aä]nger|destinatario|宛先|あて先|получател\w+|for)[\s:=,]{0,10}[<"'(:[\s]{0,6}(?:smtp:|mailto:|rfc822;\s?)?[<"']?$/i;
/** Line about the sender. */
const OF_SENDER =
  /(?:mail from|from|sender|reply-to|return-path|contact|postmaster at|helo|generating server|by|report to|mailto|subject|received|envelope-from|e-?mail us|help|cc)[\s:=]{0,4}[<"'(]{0,2}$/i;

interface Candidate {
  address: string;
  rank: number;
  offset: number;
}

/** `apart` are addresses of the report itself (To and From), used only if no other is found. */
export function namedRecipients(notice: string, apart: readonly string[]): NamedRecipient[] {
  const text = notice.slice(0, MAX_NOTICE);
  const candidates: Candidate[] = [];
  const introduced = text.search(INTRODUCTION);
  for (const { address, start } of findAddresses(text)) {
    const lineStart = text.lastIndexOf("\n", start - 1) + 1;
    const before = text.slice(Math.max(lineStart, start - 200), start);
    if (OF_STAFF.test(address)) continue;
    const isApart = apart.some((other) => isSameAddress(other, address));
    const rank = isApart ? 5 : rankOf(before);
    // Addresses before the introduction belong to header fields of the message.
    candidates.push({ address, rank: start < introduced && rank < 4 ? 4 : rank, offset: lineStart });
    if (candidates.length >= MAX_RECIPIENTS * 3) break;
  }
  const best = Math.min(...candidates.map(({ rank }) => rank));
  const chosen: Candidate[] = [];
  for (const candidate of candidates) {
    if (candidate.rank !== best || chosen.length >= MAX_RECIPIENTS) continue;
    if (!chosen.some(({ address }) => isSameAddress(address, candidate.address))) chosen.push(candidate);
  }
  // In sentences, only the first address is reliably the recipient.
  const kept = best >= 3 ? chosen.slice(0, 1) : chosen;
  return kept.map(({ address, offset }, index) => ({
    address,
    words: entryOf(text.slice(offset, kept[index + 1]?.offset)),
    before: kept.length === 1 ? text.slice(0, offset).slice(-MAX_WORDS) : "",
  }));
}

/** Returns one reply of a pasted dialogue, in which each reply is on its own line. */
function entryOf(words: string): string {
  const end = /^[45]\d\d[ -]/.test(words) ? words.search(/\n(?:[45]\d\d[ -]|>>>|<<<|while talking)/i) : -1;
  return words.slice(0, end < 0 ? MAX_WORDS : end);
}

function rankOf(before: string): number {
  if (AT_BEGINNING.test(before)) return 1;
  if (OF_SENDER.test(before)) return 4;
  return LABELLED.test(before) ? 2 : 3;
}

/** Returns the paragraphs that name an address, for reports whose fields say little. */
export function wordsAbout(notice: string, address: string): string {
  const text = notice.slice(0, MAX_NOTICE);
  const at = text.toLowerCase().indexOf(address.toLowerCase());
  if (at < 0) return "";
  const words = text.slice(text.lastIndexOf("\n", at) + 1).slice(0, MAX_WORDS);
  const next = words.slice(address.length).search(NEXT_RECIPIENT);
  return next < 0 ? words : words.slice(0, next + address.length);
}

/** Line that begins with another address. */
const NEXT_RECIPIENT = /\n[ \t]*<?[^\s<>@:]{1,64}@[^\s<>@:]{1,255}>?:?/;

/** Reply to DATA or to the content. `503 need RCPT` means that a pipelining client printed this reply after RCPT. */
const AFTER_DATA =
  /in reply to (?:end of )?DATA|after (?:end of )?data\b|>>> (?:DATA|\.)\s*\n|\[(?:end of )?data\]|SMTP command\s*\nDATA|\(DATA\)|>>> DATA\b|sent:? ?(?:<<<|>>>)? ?DATA|response to (?:the )?(?:end of )?DATA|while sending (?:message|data)|DATA command/i;
const PIPELINED = /503 .{0,40}RCPT|no valid recipients|need RCPT/i;

export const isAfterData = (words: string): boolean => AFTER_DATA.test(words) && !PIPELINED.test(words);

const SAID =
  /(?:<<< |said: ?|says: ?|responded(?: with)?:? ?|response(?: was)?:? ?|returned:? ?|was: ?\n?|reason:? ?|error:? ?|diagnostic code: ?|host [^\n]{1,200}\]:? ?|: ?\n? {0,8}|^ {0,12}|\()(?=[45]\d\d[ -]|#?[45]\.\d\.\d)/im;

/** Extracts the refusing server's reply: from the first reply code to the next empty line. */
export function refusalIn(words: string): string {
  const at = SAID.exec(words);
  if (!at) return "";
  const rest = words.slice(at.index + at[0].length);
  const end = rest.search(/\n[ \t]*\n|\n[ \t]*-{3,}|\n>>> |\n\/?I'm not going to try|\nGiving up on/);
  const refusal = (end < 0 ? rest : rest.slice(0, end)).slice(0, 1_000);
  // qmail writes the code in parentheses after the text.
  return /[a-z]{3}/i.test(refusal) ? refusal : "";
}
