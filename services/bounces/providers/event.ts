/**
 * One provider's event as a report. Providers classify bounces by words of their own; each table says what a word means
 * here. Behind a word that tells little, the refusing server's answer decides, by the same tables as everywhere
 * (lib/replies). What arrives is JSON of strangers: nothing in it is trusted to have the documented shape.
 */
import { isAddress } from "../../lib/address.ts";
import { toOneLine } from "../../lib/one-line.ts";
import { classify } from "../../lib/replies/classify.ts";
import { statusCodeIn } from "../../lib/replies/codes.ts";
import { bounceKindOf, MEANINGS, type Meaning } from "../../lib/replies/meanings.ts";
import type { Report, Verdict } from "../verdict.ts";

/** What a request of a provider holds, one for each event that is a bounce or a complaint. */
export interface ProviderEvent {
  report: Report;
  /** The event as JSON, for whoever looks at it later. */
  raw: string;
}

/** Meaning of a provider's word. */
export type Word = Meaning | "complaint";

export type Fields = Readonly<Record<string, unknown>>;

const MAX_DIAGNOSTIC = 1_000;
const MAX_RAW = 64 * 1024;
const MAX_MESSAGE_ID = 998;

/** A map and no object: what is looked up in it was written by strangers, `constructor` among others. */
export const wordTable = (table: Record<string, Word>): ReadonlyMap<string, Word> => new Map(Object.entries(table));

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A text or a number as a text; empty where it is neither. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

function recipientOf(value: unknown): string | null {
  const address = (/<([^<>]*)>\s*$/.exec(textOf(value))?.[1] ?? textOf(value)).trim();
  if (!isAddress(address)) return null;
  const at = address.lastIndexOf("@");
  return address.slice(0, at) + address.slice(at).toLowerCase();
}

/** RFC 3463's code, from the first of these texts that has one. */
export const statusCodeOf = (...texts: unknown[]): string | null =>
  texts.map((text) => statusCodeIn(textOf(text).slice(0, MAX_DIAGNOSTIC))?.code).find((code) => code !== undefined) ??
  null;

/** Providers say these of many refusals. */
const GENERAL: ReadonlySet<Word> = new Set([
  "mailbox-unknown",
  "mailbox-status",
  "temporary-failure",
  "unknown-reason",
]);

/** Meaning of the server's answer, which goes before the provider's word. An answer that says nothing certain leaves the word as it is. */
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
  /** Of SMTP, where the provider gives it beside its words. */
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
  /** Where the mail was sent from: a bounce address may carry the token. */
  sentFrom?: unknown;
}

const MAX_VERDICTS = 100;

/** Empty where the event names nobody. */
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
