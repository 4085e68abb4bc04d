/**
 * Converts one event of a provider into a report. Each provider has a table that maps its words to meanings of
 * lib/replies. If the word is too general, the refusing server's answer decides, by the same tables. Input is untrusted
 * JSON: no documented shape is relied on.
 */
import { isAddress } from "../../lib/address.ts";
import { toOneLine } from "../../lib/one-line.ts";
import { classify } from "../../lib/replies/classify.ts";
import { statusCodeIn } from "../../lib/replies/codes.ts";
import { bounceKindOf, MEANINGS, type Meaning } from "../../lib/replies/meanings.ts";
import type { Report, Verdict } from "../verdict.ts";

/** One bounce or complaint of a webhook request. */
export interface ProviderEvent {
  report: Report;
  /** The event as JSON, kept as the original. */
  raw: string;
}

/** Meaning of a provider's word. */
export type Word = Meaning | "complaint";

export type Fields = Readonly<Record<string, unknown>>;

const MAX_DIAGNOSTIC = 1_000;
const MAX_RAW = 64 * 1024;
const MAX_MESSAGE_ID = 998;

/** Uses a Map because keys are untrusted (`constructor`). */
export const wordTable = (table: Record<string, Word>): ReadonlyMap<string, Word> => new Map(Object.entries(table));

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Returns strings and numbers as a string, anything else as an empty string. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

function recipientOf(value: unknown): string | null {
  const address = (/<([^<>]*)>\s*$/.exec(textOf(value))?.[1] ?? textOf(value)).trim();
  if (!isAddress(address)) return null;
  const at = address.lastIndexOf("@");
  return address.slice(0, at) + address.slice(at).toLowerCase();
}

/** Returns the RFC 3463 code of the first text that has one. */
export const statusCodeOf = (...texts: unknown[]): string | null =>
  texts.map((text) => statusCodeIn(textOf(text).slice(0, MAX_DIAGNOSTIC))?.code).find((code) => code !== undefined) ??
  null;

/** Words that providers use for many kinds of refusals. */
const GENERAL: ReadonlySet<Word> = new Set([
  "mailbox-unknown",
  "mailbox-status",
  "temporary-failure",
  "unknown-reason",
]);

/** The server's answer takes precedence over the provider's word, unless it is not clear. */
function weighed(word: Word, text: string, status: string | null): Word {
  if (!GENERAL.has(word)) return word;
  const { meaning } = classify({ text, status: status ?? "" });
  if (word === "unknown-reason") return meaning;
  const isVague = meaning === "unknown-reason" || meaning === "mailbox-unavailable" || MEANINGS[meaning] === "other";
  return isVague ? word : meaning;
}

const messageIdOf = (value: unknown): string | null =>
  textOf(value)
    .trim()
    .replace(/^<(.*)>$/, "$1")
    .slice(0, MAX_MESSAGE_ID) || null;

interface ReportedRecipient {
  word: Word;
  recipient: unknown;
  statusCode?: string | null;
  /** SMTP reply code, if the provider gives it separately. */
  replyCode?: unknown;
  diagnostic?: unknown;
}

function verdictOf({ word, recipient, statusCode = null, replyCode, diagnostic }: ReportedRecipient): Verdict {
  const words = toOneLine(textOf(diagnostic)).slice(0, MAX_DIAGNOSTIC).toWellFormed().trim();
  const reason = weighed(word, `${textOf(replyCode)} ${words}`.trim(), statusCode);
  return {
    kind: reason === "complaint" ? reason : bounceKindOf(reason),
    reason,
    recipient: recipientOf(recipient),
    statusCode,
    diagnostic: words || null,
  };
}

interface Reported {
  provider: string;
  event: unknown;
  verdicts: readonly ReportedRecipient[];
  messageId?: unknown;
  /** Envelope sender: a bounce address may carry the token. */
  sentFrom?: unknown;
}

const MAX_VERDICTS = 100;

/** Returns no event if no recipient is named. */
export function providerEvent({ provider, event, verdicts, messageId, sentFrom }: Reported): ProviderEvent[] {
  const named = verdicts.slice(0, MAX_VERDICTS).map(verdictOf);
  if (named.every(({ recipient }) => recipient === null)) return [];
  const from = recipientOf(sentFrom);
  const report: Report = {
    verdicts: named.filter(({ recipient }) => recipient !== null),
    returnedMessageId: messageIdOf(messageId),
    addressedTo: from === null ? [] : [from],
    dialect: provider,
  };
  return [{ report, raw: JSON.stringify(event).slice(0, MAX_RAW).toWellFormed() }];
}
