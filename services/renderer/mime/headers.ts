/**
 * Formats header fields (RFC 5322, 2047, 6532): folded, in ASCII, and safe against injection. For any input, a line
 * break in the output only starts a folded line of the same field.
 */
import { asciiDomain, domainOf, isAddress } from "../../lib/address.ts";
import { line } from "../program/escape.ts";

const MAX_LINE = 76;
const MAX_WORD = 75;
const ATOMS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** "=?utf-8?Q?" and "?=" around a word. */
const WORD_FRAME = 12;
// Characters that need no encoding in a phrase (RFC 2047 section 5, rule 3), the strictest context of an encoded word.
const Q_LITERAL = /[A-Za-z0-9!*+/-]/;

const qCodes = Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (Q_LITERAL.test(char)) return char;
  return char === " " ? "_" : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
});

function qEncode(text: string): string {
  let out = "";
  for (const byte of Buffer.from(text)) out += qCodes[byte]!;
  return out;
}

const bLength = (bytes: number) => Math.ceil(bytes / 3) * 4;

/** Encoded words that never split a character, one per line; the first shares its line with `before` characters. */
function encodedWords(text: string, before: number): string {
  const useQ = qEncode(text).length <= bLength(Buffer.byteLength(text));
  const words: string[] = [];
  let word = "";
  let size = 0;
  let charactersLeft = Math.min(MAX_WORD, MAX_LINE - before) - WORD_FRAME;
  const finish = () => {
    if (word) words.push(useQ ? `=?utf-8?Q?${qEncode(word)}?=` : `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`);
    word = "";
    size = 0;
    charactersLeft = MAX_WORD - WORD_FRAME;
  };
  for (const char of text) {
    const more = useQ ? qEncode(char).length : Buffer.byteLength(char);
    if ((useQ ? size + more : bLength(size + more)) > charactersLeft) finish();
    word += char;
    size += more;
  }
  finish();
  return words.join("\r\n ");
}

/** Folds ASCII at its spaces, so that unfolding gives the same text; null if that is impossible. */
function fold(name: string, text: string): string | null {
  let rest = `${name}: ${text}`;
  const lines: string[] = [];
  while (rest.length > MAX_LINE) {
    const at = rest.lastIndexOf(" ", MAX_LINE);
    // Folds after the field name's colon, and never leaves a line with white space only.
    if (at <= (lines.length === 0 ? name.length + 1 : 1) || rest.slice(0, at).trim() === "") return null;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  if (rest.trim() === "") return null;
  return [...lines, rest].join("\r\n");
}

/** A field of free text, such as the subject. */
export function textField(name: string, value: string): string {
  const text = line(value).toWellFormed();
  const plain = PRINTABLE.test(text) && !text.includes("=?") && text === text.trim();
  if (plain && name.length + 2 + text.length <= MAX_LINE) return `${name}: ${text}\r\n`;
  const folded = plain ? fold(name, text) : null;
  if (folded !== null) return `${folded}\r\n`;
  return `${name}: ${encodedWords(text, name.length + 2)}\r\n`;
}

/** A display name, after `before` characters: ASCII quoted, anything else as encoded words. */
export function quotedPhrase(value: string, before: number): string {
  const text = line(value).toWellFormed().trim();
  // Many email clients decode encoded words even within quotes: text that looks like one must not become another name.
  if (!PRINTABLE.test(text) || text.length > 60 || text.includes("=?")) return encodedWords(text, before);
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** The same, without quotes if they are not needed. */
function phrase(value: string, before: number): string {
  const text = line(value).toWellFormed().trim();
  return ATOMS.test(text) && text.length <= 60 && !text.includes("=?") ? text : quotedPhrase(text, before);
}

export class UnusableAddress extends Error {}

const PLAIN_ADDRESS =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;

/**
 * An address for a header: the domain always in ASCII, a non-ASCII local part as UTF-8 bytes, which only a server with
 * SMTPUTF8 accepts.
 */
export function addressSpec(email: string): string {
  if (PLAIN_ADDRESS.test(email) && email.length <= 254) return email;
  if (!isAddress(email)) throw new UnusableAddress("The address is not valid.");
  const local = email.slice(0, email.lastIndexOf("@"));
  return `${Buffer.from(local).toString("latin1")}@${asciiDomain(domainOf(email))}`;
}

/** True if the text (bytes as characters) is not ASCII: the email then needs SMTPUTF8. */
export const isNonAscii = (text: string) => /[\u0080-\u00ff]/.test(text);

/** A display name and an address, after `before` characters of the field's name. */
export function mailbox(name: string, email: string, before: number): string {
  const spec = addressSpec(email);
  if (!name.trim()) return spec;
  const text = phrase(name, before);
  return before + text.length + spec.length + 3 > MAX_LINE ? `${text}\r\n <${spec}>` : `${text} <${spec}>`;
}

/**
 * The Cc field. An address that cannot be written must not fail the primary recipient: an invalid one is left out, and
 * one with a non-ASCII local part becomes an empty group in an email that is otherwise ASCII (RFC 6857 section 3.1.8).
 */
export function copiesField(emails: readonly string[], utf8: boolean): string {
  const specs = emails.filter(isAddress).map((email) => {
    const spec = addressSpec(email);
    return !utf8 && isNonAscii(spec) ? `${encodedWords(email, 1)} :;` : spec;
  });
  return specs.length > 0 ? `Cc: ${specs.join(",\r\n ")}\r\n` : "";
}

let dateSecond = 0;
let dateText = "";

/** The Date field, formatted once per second. */
export function dateField(now = Date.now()): string {
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = `Date: ${new Date(second * 1000).toUTCString().replace("GMT", "+0000")}\r\n`;
  }
  return dateText;
}
