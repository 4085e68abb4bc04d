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

/** Said of a whole server, and by many servers in front of whatever the reason is. */
const GENERAL: ReadonlySet<Meaning> = new Set(["policy", "server-error", "content-refused", "unreachable"]);
/** Codes that are only given for what they mean. 5.1.1, 5.7.1, 5.2.0 and the like are given for anything. */
const TELLING_CODE = /^[45]\.(?:1\.[26789]|1\.10|2\.[23]|3\.4|4\.[4-7]|7\.2\d)$/;

export function judge({ status, diagnostic, notice, afterData }: Evidence): Judgement {
  const code = bestCode(statusCodeIn(status), statusCodeIn(diagnostic), statusCodeIn(notice));
  const reply = replyCodeIn(diagnostic) ?? replyCodeIn(notice);
  const words = certain(diagnostic, code);
  const coded = code && !code.isVague ? meaningOf(code) : undefined;
  const isTemporary = reply === undefined ? (code?.code.startsWith("4") ?? false) : reply < 500;
  const meaning =
    words ??
    coded ??
    meaningOfText(notice) ??
    (reply === undefined ? undefined : meaningOfReply(reply)) ??
    meaningOfText(diagnostic) ??
    (code ? meaningOf(code) : undefined) ??
    (isTemporary ? "temporary-failure" : "unknown-reason");
  return {
    meaning: settled(
      meaning,
      isTemporary && (meaning !== words || meaning === "domain-unknown"),
      afterData && UNSURE.test(diagnostic),
      code,
    ),
    statusCode: code?.code ?? null,
  };
}

/** What the words say, unless they are general and a code says more. */
function certain(text: string, code: StatusCode | undefined): Meaning | undefined {
  const meaning = meaningOfText(text);
  if (!meaning || !GENERAL.has(meaning)) return meaning;
  return code && TELLING_CODE.test(code.code) ? undefined : meaning;
}

/** What the same servers say of mail that a reader has filtered. Yahoo names the account, and means it. */
const UNSURE = /unknown|no such|not exist/i;

/**
 * A temporary code never says for certain that there is no such mailbox or domain: a directory may be away. And who has taken
 * the recipient, and calls it unknown after the content, may mean the content.
 */
function settled(meaning: Meaning, isTemporary: boolean, afterData: boolean, code: StatusCode | undefined): Meaning {
  if (MEANINGS[meaning] !== "hard") return meaning;
  if (isTemporary || (meaning === "mailbox-unavailable" && code?.code.startsWith("4"))) return "temporary-failure";
  return afterData && meaning.startsWith("mailbox") && (!code || code.isVague) ? "filtered" : meaning;
}

/** The one that says most: the server's own text often holds the real code where the Status field has 5.0.0. */
function bestCode(...codes: (StatusCode | undefined)[]): StatusCode | undefined {
  const found = codes.filter((code) => code !== undefined);
  return found.find((code) => !code.isVague) ?? found[0];
}
