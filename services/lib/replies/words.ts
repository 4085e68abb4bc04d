/**
 * Interprets the text of refusals. Servers use one code for many reasons (5.1.1 for a policy, 5.0.0 for anything), so
 * words take precedence over codes, and filter phrases over mailbox phrases: an address suppressed by mistake is a
 * customer lost, one kept by mistake bounces again.
 *
 * Sources of the phrases: RFC 5321, 3463, 7372; the sources of Postfix, Exim, sendmail, qmail and OpenSMTPD; the pages
 * named in the tables of texts/; and half of the emails of the public collections that docs/measurements.md names.
 */
import type { Meaning } from "./meanings.ts";
import * as filters from "./texts/filters.ts";
import * as mailbox from "./texts/mailbox.ts";
import type { Row } from "./texts/phrases.ts";
import * as transport from "./texts/transport.ts";

/** The first row that matches decides. */
const ROWS: readonly Row[] = [
  // Phrases of a few servers that later rows would misread.
  filters.GREYLISTED,
  filters.PERIOD,
  mailbox.FULL,
  mailbox.UNKNOWN_TO_EDGE,
  filters.HEADERS,
  transport.DNS_TEMPORARY_FAILURE,
  transport.PROGRAM,
  mailbox.CLOSED,
  // Filters.
  filters.AUTHENTICATION,
  filters.VIRUS,
  filters.BLOCKED,
  filters.SPAM,
  filters.SENDER,
  filters.RELAY,
  filters.RATE,
  // The email, the domain, the mailbox.
  transport.TOO_LARGE,
  transport.ACCEPTS_NO_MAIL,
  transport.DOMAIN,
  mailbox.MOVED,
  mailbox.DISABLED,
  mailbox.LIST,
  mailbox.UNKNOWN,
  mailbox.UNAVAILABLE,
  // Transport problems, and vague phrases.
  transport.EXPIRED,
  transport.LOOP,
  transport.UNREACHABLE,
  filters.CONTENT,
  filters.POLICY,
  transport.SERVER,
];

const MAX_LENGTH = 1_200;
const ADDRESS = /[<"'([]?[^\s<>@"'()[\]]{1,128}@[^\s<>"'(),;\]]{1,255}[>"')\]]?/g;
const URL = /https?:\/\/([\w.-]{1,255})[^\s<>"')]*/gi;
/** Prefix that Cisco's gateways add to any real reason. */
const PREFIX = /5\.1\.0 - unknown address error (?=\d{3})/i;

/**
 * Meaning of a refusal's text; undefined if it has none. `text` may have several lines. Addresses and paths of links
 * are removed: they contain arbitrary words.
 */
export function meaningOfText(text: string): Meaning | undefined {
  const line = text
    .slice(0, MAX_LENGTH)
    .replace(URL, "$1")
    .replace(ADDRESS, "@")
    .replace(PREFIX, "")
    .replace(/\s+/g, " ");
  return ROWS.find(({ pattern }) => pattern.test(line))?.meaning;
}
