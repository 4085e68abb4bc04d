/**
 * Parses header blocks as received: folded, in any case, with raw non-ASCII bytes. Strings are latin1 (one character
 * per byte) until they are decoded.
 */
import { decodeBytes, decodeQuotedPrintable } from "./charset.ts";

/** Names in lower case; values unfolded, in original order. */
export type Headers = Map<string, string[]>;

/** More lines than any real header block has. */
const MAX_LINES = 2_000;
/** Limit of a decoded value. */
const MAX_DECODED = 2_000;
const FIELD = /^([!-9;-~]{1,100})[ \t]*:[ \t]*/;
const ENCODED_WORD = /=\?([\w:.-]{1,60})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,2000})\?=(?:[ \t]+(?==\?))?/gi;

export function parseHeaders(block: string): Headers {
  const headers: Headers = new Map();
  let values: string[] | undefined;
  for (const line of block.split("\n", MAX_LINES)) {
    if (/^[ \t]/.test(line)) {
      if (values) values.push(`${values.pop()} ${line.trim()}`);
      continue;
    }
    const field = FIELD.exec(line);
    // Skip mbox separators and invalid lines; they do not end the block.
    values = undefined;
    if (!field) continue;
    const name = field[1]!.toLowerCase();
    values = headers.get(name) ?? [];
    values.push(line.slice(field[0].length).trim());
    headers.set(name, values);
  }
  return headers;
}

/** Returns the first value, decoded; empty if the field is missing. */
export const headerText = (headers: Headers, name: string): string => decodeWords(headers.get(name)?.[0] ?? "");

/** Decodes encoded words (RFC 2047) and raw bytes. */
export function decodeWords(value: string): string {
  if (value.length > MAX_DECODED) return decodeWords(value.slice(0, MAX_DECODED));
  if (!value.includes("=?")) return /[\x80-\xff]/.test(value) ? decodeBytes(Buffer.from(value, "latin1"), "") : value;
  return value.replace(ENCODED_WORD, (_, charset: string, encoding: string, text: string) => {
    const bytes =
      encoding.toLowerCase() === "b" ? Buffer.from(text, "base64") : decodeQuotedPrintable(text.replaceAll("_", " "));
    return decodeBytes(bytes, charset);
  });
}

/** Parses values like `text/plain; charset="x"`; the main value and all names become lower case. */
export function parseParameters(value: string): { main: string; parameters: Map<string, string> } {
  const end = value.indexOf(";");
  const main = (end < 0 ? value : value.slice(0, end)).trim().toLowerCase();
  const parameters = new Map<string, string>();
  if (end < 0) return { main, parameters };
  for (const [, name, quoted, plain] of value
    .slice(end, end + 2_000)
    .matchAll(/;\s*([\w*-]{1,40})\s*=\s*(?:"([^"]*)"|([^\s;]*))/g)) {
    parameters.set(name!.toLowerCase(), quoted ?? plain!);
  }
  return { main, parameters };
}
