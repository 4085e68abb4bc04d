/**
 * One provider's event as a report. Providers classify bounces by words of their own; each table says what a word means
 * here. What arrives is JSON of strangers: nothing in it is trusted to have the documented shape.
 */
import { isAddress } from "../../lib/address.ts";
import { toOneLine } from "../../lib/one-line.ts";
import type { Report, Verdict, VerdictKind } from "../verdict.ts";

/** What a request of a provider holds, one for each event that is a bounce or a complaint. */
export interface ProviderEvent {
  report: Report;
  /** The event as JSON, for whoever looks at it later. */
  raw: string;
}

export interface Meaning {
  kind: Exclude<VerdictKind, "ignored">;
  reason: string;
}

export type Fields = Readonly<Record<string, unknown>>;

const MAX_DIAGNOSTIC = 1_000;
const MAX_RAW = 64 * 1024;
const MAX_MESSAGE_ID = 998;

export const meaning = (kind: Meaning["kind"], reason: string): Meaning => ({ kind, reason });

/** A map and no object: what is looked up in it was written by strangers, `constructor` among others. */
export const meanings = (table: Record<string, Meaning>): ReadonlyMap<string, Meaning> =>
  new Map(Object.entries(table));

// The words of reports/meanings.ts, where they mean the same.
export const UNKNOWN_MAILBOX = meaning("hard", "mailbox-unknown");
/** The provider did not try: the address is on its own list of those that bounced or complained. */
export const ON_PROVIDERS_LIST = meaning("hard", "on-providers-list");
/** It is there, and takes nothing at the moment. */
export const MAILBOX_STATUS = meaning("soft", "mailbox-status");
export const FULL_MAILBOX = meaning("soft", "mailbox-full");
export const TOO_LARGE = meaning("soft", "too-large");
export const NOT_DELIVERED = meaning("soft", "temporary-failure");
export const BLOCKED = meaning("block", "blocked");
export const CONTENT_REFUSED = meaning("block", "content-refused");
export const COMPLAINT = meaning("complaint", "complaint");

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

const STATUS = /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/;

/** RFC 3463's code, from the first of these texts that has one. */
export function statusCodeOf(...texts: unknown[]): string | null {
  for (const text of texts) {
    const found = STATUS.exec(textOf(text).slice(0, MAX_DIAGNOSTIC))?.[1];
    if (found) return found;
  }
  return null;
}

/** What a status code says by itself, for events that the provider leaves unclassified. */
export function meaningOfStatus(code: string | null): Meaning {
  if (code === null) return BLOCKED;
  if (/^5\.1\.(?![78]$)/.test(code)) return UNKNOWN_MAILBOX;
  if (/^[45]\.2\.3$|^[45]\.3\.4$/.test(code)) return TOO_LARGE;
  if (/^[45]\.2\./.test(code)) return FULL_MAILBOX;
  return code.startsWith("4.") ? NOT_DELIVERED : BLOCKED;
}

const messageIdOf = (value: unknown): string | null =>
  textOf(value)
    .trim()
    .replace(/^<(.*)>$/, "$1")
    .slice(0, MAX_MESSAGE_ID) || null;

function verdictOf(reported: {
  meaning: Meaning;
  recipient: unknown;
  statusCode?: string | null;
  diagnostic?: unknown;
}) {
  const diagnostic = toOneLine(textOf(reported.diagnostic)).slice(0, MAX_DIAGNOSTIC).toWellFormed().trim();
  return {
    ...reported.meaning,
    recipient: recipientOf(reported.recipient),
    statusCode: reported.statusCode ?? null,
    diagnostic: diagnostic || null,
  } satisfies Verdict;
}

interface Reported {
  provider: string;
  event: unknown;
  verdicts: readonly Parameters<typeof verdictOf>[0][];
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
