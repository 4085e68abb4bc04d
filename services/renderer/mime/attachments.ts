/** Attachments encoded for the wire: once per campaign, then the same bytes in every email. */
import { isUtf8 } from "node:buffer";
import type { Attachment } from "../content.ts";
import { line } from "../program/escape.ts";

const LINE_BYTES = 57;
const MAX_PARAMETER = 60;

/** Base64 in lines of 76 characters, each ended by CRLF. */
export function base64Lines(data: Buffer): string {
  const encoded = data.toString("base64");
  const width = (LINE_BYTES / 3) * 4;
  let out = "";
  for (let i = 0; i < encoded.length; i += width) out += `${encoded.slice(i, i + width)}\r\n`;
  return out;
}

const percent = (char: string) =>
  [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");

/** Many readers decode encoded words within quotes (against RFC 2047 section 5), and would see another name. */
const looksEncoded = (text: string) => text.includes("=?");

/**
 * Name for email clients that only support the old parameter. Names that look encoded are reduced to unambiguous
 * characters.
 */
const contentTypeName = (filename: string) =>
  parameter("name", looksEncoded(filename) ? filename.replace(/[^A-Za-z0-9._-]+/g, "_") : filename);

/**
 * Formats a parameter (RFC 2231): plain ASCII if possible, otherwise UTF-8 in numbered sections that split no
 * character.
 */
function parameter(name: string, value: string): string {
  const text = line(value).toWellFormed().trim() || "attachment";
  if (/^[\x20-\x7e]*$/.test(text) && text.length <= MAX_PARAMETER && !looksEncoded(text)) {
    return `;\r\n ${name}="${text.replace(/["\\]/g, "\\$&")}"`;
  }
  const pieces: string[] = [""];
  for (const char of text) {
    const code = /[A-Za-z0-9._-]/.test(char) ? char : percent(char);
    if (pieces.at(-1)!.length + code.length > MAX_PARAMETER) pieces.push("");
    pieces[pieces.length - 1] += code;
  }
  if (pieces.length === 1) return `;\r\n ${name}*=utf-8''${pieces[0]}`;
  return pieces.map((piece, i) => `;\r\n ${name}*${i}*=${i === 0 ? "utf-8''" : ""}${piece}`).join("");
}

const TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/i;

/** A container type would hide its content from attachment scanners, and may not be base64 (RFC 2045). */
const typeOf = (contentType: string) =>
  TYPE.test(contentType) && !/^(?:multipart|message)\//i.test(contentType) ? contentType : "application/octet-stream";

/** Text without a charset is ASCII (RFC 2046), and displayed as such. */
const charsetOf = (type: string, data: Buffer) => (/^text\//i.test(type) && isUtf8(data) ? ";\r\n charset=utf-8" : "");

function partOf({ filename, contentType, data }: Attachment): string {
  const type = typeOf(contentType);
  const fields = [
    `Content-Type: ${type}${charsetOf(type, data)}${contentTypeName(filename)}`,
    "Content-Transfer-Encoding: base64",
    `Content-Disposition: attachment${parameter("filename", filename)}`,
  ];
  return `${fields.join("\r\n")}\r\n\r\n${base64Lines(data)}`;
}

/**
 * The parts after the text of the email, and the end of the message, as latin1 characters. Flattened here: V8 would
 * flatten a string concatenated by "+" again for every email.
 */
export function attachmentParts(attachments: readonly Attachment[], boundary: string): string {
  const parts = attachments.map((attachment) => `--${boundary}\r\n${partOf(attachment)}`);
  return Buffer.from(`${parts.join("")}--${boundary}--\r\n`, "latin1").toString("latin1");
}
