/** From what a report says of one recipient to a meaning: words first, then codes (see refusal-texts.ts for the reason). */
import { MEANINGS, type Meaning } from "./meanings.ts";
import { meaningOfText } from "./refusal-texts.ts";
import { meaningOf, meaningOfReply, replyCodeIn, type StatusCode, statusCodeIn } from "./status-codes.ts";

export interface Evidence {
  /** The Status field of RFC 3464, where there is one. */
  status: string;
  /** The refusing server's own words: Diagnostic-Code, or the paragraph that speaks of the recipient. */
  diagnostic: string;
  /** The notice's words about this recipient, that are the reporting server's. */
  notice: string;
  /** The answer was one to DATA or to the content, so RCPT had been taken. */
  afterData: boolean;
}

export interface Judgement {
  meaning: Meaning;
  statusCode: string | null;
}

/** Bad sender, failed authentication (RFC 7372): what the words say of names is said of the sender's. */
const SENDERS_CODE = /^[45]\.(?:1\.[78]|7\.2[0-6])$/;
/** Said of a whole server, and by many servers in front of whatever the reason is. */
const GENERAL: ReadonlySet<Meaning> = new Set(["policy", "server-error", "content-refused", "unreachable"]);
/** What words say of a state that may pass, where a temporary code stands beside them. */
const PASSING: ReadonlySet<Meaning> = new Set(["domain-unknown", "mailbox-unavailable"]);
/** Codes that are only given for what they mean. 5.1.1, 5.7.1, 5.2.0 and the like are given for anything. */
const TELLING_CODE = /^[45]\.(?:1\.[26789]|1\.10|2\.[23]|3\.4|4\.[4-7]|7\.2\d)$/;

export function judge({ status, diagnostic, notice, afterData }: Evidence): Judgement {
  const code = bestCode(statusCodeIn(status), statusCodeIn(diagnostic), statusCodeIn(notice));
  const reply = replyCodeIn(diagnostic) ?? replyCodeIn(notice);
  const isTemporary = reply === undefined ? (code?.code.startsWith("4") ?? false) : reply < 500;
  const replied = reply === undefined ? undefined : meaningOfReply(reply);
  const coded = code && meaningOf(code);
  const words = certain(diagnostic, code, replied);
  const meaning =
    words ??
    (replied === "accepts-no-mail" ? replied : undefined) ??
    (code?.isVague ? undefined : coded) ??
    meaningOfText(notice) ??
    replied ??
    meaningOfText(diagnostic) ??
    coded ??
    (isTemporary ? "temporary-failure" : "unknown-reason");
  const isDoubtful = isTemporary && (meaning !== words || PASSING.has(meaning));
  const isFiltered = afterData && UNSURE.test(diagnostic) && (!code || code.isVague);
  return { meaning: careful(meaning, isDoubtful, isFiltered), statusCode: code?.code ?? null };
}

/** What the words say, unless a code says more than they do. */
function certain(text: string, code: StatusCode | undefined, replied: Meaning | undefined): Meaning | undefined {
  if (code && SENDERS_CODE.test(code.code)) return undefined;
  const meaning = meaningOfText(text);
  const isOutdone = (code && TELLING_CODE.test(code.code)) || replied === "accepts-no-mail";
  return meaning && GENERAL.has(meaning) && isOutdone ? undefined : meaning;
}

/** What the same servers say of mail that a reader has filtered. Yahoo names the account, and means it. */
const UNSURE = /unknown|no such|not exist/i;

/**
 * What would suppress must be certain. A temporary code is not: a directory may be away. And who has taken the recipient, and
 * calls it unknown after the content, may mean the content.
 */
function careful(meaning: Meaning, isDoubtful: boolean, isFiltered: boolean): Meaning {
  if (MEANINGS[meaning] !== "hard") return meaning;
  if (isDoubtful) return "temporary-failure";
  return isFiltered && meaning.startsWith("mailbox") ? "filtered" : meaning;
}

/** The one that says most: the server's own text often holds the real code where the Status field has 5.0.0. */
function bestCode(...codes: (StatusCode | undefined)[]): StatusCode | undefined {
  const found = codes.filter((code) => code !== undefined);
  return found.find((code) => !code.isVague) ?? found[0];
}
