/**
 * Classifies a refusal (code, enhanced code, words) for live SMTP replies, delivery reports and providers' events.
 * Words take precedence over codes (see words.ts). Suppressing requires certainty: an address suppressed by mistake is
 * a lost customer, and a misconfigured server gives the same reply for every recipient. So
 *
 *   x.7.x                                    is a block, whatever the words
 *   5.2.1, or words that call it disabled    is hard; beside "temporarily" and the like soft
 *   other x.2.x                              is soft, where the words do not call the mailbox unknown
 *   a reply without an enhanced code         is hard only where its words speak of the mailbox, and else a block
 *   a domain's fault in a server's reply     is hard only with a code of addresses or routes, or where a name server was
 *                                            asked: it may be the sender's domain
 */
import { meaningOf, meaningOfReply, replyCodeIn, type StatusCode, statusCodeIn } from "./codes.ts";
import { concernsMailbox, MEANINGS, type Meaning } from "./meanings.ts";
import { meaningOfText } from "./words.ts";

export interface Refusal {
  /** The refusing server's own words, with its codes where it gave any. */
  text: string;
  /** A field for the enhanced code alone, as Status in RFC 3464; other text in it is ignored. */
  status?: string;
  /** Additional words about this recipient, from the reporting server. */
  notice?: string;
  /** The reply was to DATA or to the content, so RCPT had been accepted. */
  isAfterData?: boolean;
}

export interface Classified {
  meaning: Meaning;
  statusCode: string | null;
}

/** Bad sender, failed authentication (RFC 7372): names in the words mean the sender's. */
const SENDERS_CODE = /^[45]\.(?:1\.[78]|7\.2[0-6])$/;
/** Meanings about a whole server, which many servers also prepend to any reason. */
const GENERAL: ReadonlySet<Meaning> = new Set(["policy", "server-error", "content-refused", "unreachable"]);
/** Codes that are used only for their own meaning. 5.1.1, 5.7.1, 5.2.0 and the like are used for anything. */
const SPECIFIC_CODE = /^[45]\.(?:1\.[26789]|1\.10|2\.[23]|3\.4|4\.[4-7]|7\.2\d)$/;
/** Meanings that count as temporary beside a temporary code. */
const PASSING: ReadonlySet<Meaning> = new Set(["domain-unknown", "mailbox-unavailable", "mailbox-disabled"]);
const OF_DOMAIN: ReadonlySet<Meaning> = new Set(["domain-unknown", "accepts-no-mail"]);
/**
 * Unrecognized, out of sequence, not logged in: without an enhanced code, or with a protocol one, they concern the
 * session.
 */
const SESSION_REPLIES: ReadonlySet<number> = new Set([500, 501, 502, 503, 504, 530, 534, 535, 538]);
const PROTOCOL_CODE = /^5\.5\.[1-4]$/;
const FOR_NOW = /temporar|currently|at this time|for now|suspend|\blocked\b|\bblocked\b|frozen/i;
/** Words that servers also use for mail that the recipient filters. Yahoo names the account, and means it. */
const UNSURE = /unknown|no such|not exist/i;

export function classify({ text, status = "", notice = "", isAfterData = false }: Refusal): Classified {
  const code = bestCode(statusCodeIn(status), statusCodeIn(text), statusCodeIn(notice));
  const reply = replyCodeIn(text) ?? replyCodeIn(notice);
  const isTemporary = reply === undefined ? (code?.code.startsWith("4") ?? false) : reply < 500;
  const replied = reply === undefined ? undefined : meaningOfReply(reply);
  const coded = code && meaningOf(code);
  const words = decisiveWords(text, code);
  const meaning =
    words ??
    (replied === "accepts-no-mail" ? replied : undefined) ??
    (code?.isVague ? undefined : coded) ??
    meaningOfText(notice) ??
    replied ??
    meaningOfText(text) ??
    coded ??
    (isTemporary ? "temporary-failure" : "unknown-reason");
  const statusCode = code?.code ?? null;
  if (isTemporary && (meaning !== words || PASSING.has(meaning)) && MEANINGS[meaning] === "hard") {
    return { meaning: /^4\.2\./.test(statusCode ?? "") ? "mailbox-status" : "temporary-failure", statusCode };
  }
  const isFiltered = isAfterData && UNSURE.test(text) && (!code || code.isVague);
  // Servers and reports without a code write x.0.0.
  const enhanced = statusCode?.endsWith(".0.0") ? null : statusCode;
  return { meaning: certain(meaning, { words: `${text} ${notice}`, enhanced, reply, isFiltered }), statusCode };
}

/** Meaning of the words, unless the code is more specific. */
function decisiveWords(text: string, code: StatusCode | undefined): Meaning | undefined {
  if (code && SENDERS_CODE.test(code.code)) return undefined;
  const meaning = meaningOfText(text);
  const codeIsMoreSpecific = code && SPECIFIC_CODE.test(code.code);
  return meaning && GENERAL.has(meaning) && codeIsMoreSpecific ? undefined : meaning;
}

interface Evidence {
  words: string;
  enhanced: string | null;
  reply: number | undefined;
  isFiltered: boolean;
}

/**
 * The table above, plus: a server that accepted the recipient and calls it unknown after the content may mean the
 * content.
 */
function certain(meaning: Meaning, { words, enhanced, reply, isFiltered }: Evidence): Meaning {
  const kind = MEANINGS[meaning];
  if (kind === "block") return meaning;
  if (enhanced && /^[45]\.7\./.test(enhanced)) return "policy";
  if (kind === "other") return reply !== undefined && reply >= 500 && !enhanced ? "unknown-reason" : meaning;
  if (kind === "soft") return meaning;
  if (enhanced ? PROTOCOL_CODE.test(enhanced) : SESSION_REPLIES.has(reply ?? 0)) return "unknown-reason";
  if (meaning === "mailbox-disabled" && FOR_NOW.test(words)) return "mailbox-suspended";
  // RFC 5321 gives 550 these words for anything; 5.3.x and 5.4.x speak of a server or a route.
  if (meaning === "mailbox-unavailable" && enhanced && /^5\.[34]\./.test(enhanced)) return "server-error";
  const isServers = reply !== undefined && reply !== 556 && !/name server/i.test(words);
  if (isServers && OF_DOMAIN.has(meaning) && !/^5\.[14]\./.test(enhanced ?? "")) return "unknown-reason";
  return isFiltered && concernsMailbox(meaning) ? "filtered" : meaning;
}

/** The most specific code: the server's own text often holds the real code while the Status field has 5.0.0. */
function bestCode(...codes: (StatusCode | undefined)[]): StatusCode | undefined {
  const found = codes.filter((code) => code !== undefined);
  return found.find((code) => !code.isVague) ?? found[0];
}
