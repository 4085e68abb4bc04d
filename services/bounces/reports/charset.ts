/**
 * Decodes transfer encodings and charsets as found in practice: broken input is decoded as far as possible, never
 * refused.
 */
import { Parser } from "htmlparser2";

/** Charset names in use that TextDecoder does not know. */
const ALIASES: Record<string, string> = {
  "cp-850": "windows-1252",
  cp850: "windows-1252",
  cp932: "shift_jis",
  "x-mac-roman": "macintosh",
  "utf-7": "utf-8",
  "unknown-8bit": "utf-8",
  "x-unknown": "utf-8",
  "iso-2022-jp-ms": "iso-2022-jp",
  cp50220: "iso-2022-jp",
};
const decoders = new Map<string, InstanceType<typeof TextDecoder>>();
const MAX_DECODERS = 100;

function decoderOf(charset: string): InstanceType<typeof TextDecoder> | undefined {
  const name = charset.trim().toLowerCase();
  const cached = decoders.get(name);
  if (cached) return cached;
  try {
    const decoder = new TextDecoder(ALIASES[name] ?? name);
    if (decoders.size < MAX_DECODERS) decoders.set(name, decoder);
    return decoder;
  } catch {
    return undefined;
  }
}

/** Unknown or missing charset: UTF-8 if valid, else latin1. */
export function decodeBytes(bytes: Buffer, charset: string): string {
  const named = /^(?:us-ascii|ascii|)$/i.test(charset) ? undefined : decoderOf(charset);
  if (named) return named.decode(bytes);
  const text = bytes.toString("utf8");
  return text.includes("\ufffd") ? bytes.toString("latin1") : text;
}

export function decodeQuotedPrintable(text: string): Buffer {
  const joined = text.replace(/=[ \t]{0,50}\n/g, "");
  return Buffer.from(
    joined.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

/** `body` is latin1: one character per byte. */
export function decodeTransfer(body: string, encoding: string): Buffer {
  const name = encoding.trim().toLowerCase();
  if (name === "base64") return Buffer.from(body, "base64");
  if (name === "quoted-printable") return decodeQuotedPrintable(body);
  return Buffer.from(body, "latin1");
}

const BREAKS = new Set(["br", "p", "div", "tr", "li", "h1", "h2", "h3", "h4", "pre", "table", "td", "hr"]);
const UNSEEN = new Set(["style", "script", "title"]);

/** Returns the text of an HTML body, one line per block. */
export function htmlToText(html: string): string {
  const pieces: string[] = [];
  let unseen = 0;
  const parser = new Parser({
    onopentagname: (name) => {
      if (UNSEEN.has(name)) unseen += 1;
      if (BREAKS.has(name)) pieces.push("\n");
    },
    ontext: (text) => {
      if (unseen === 0) pieces.push(text.replace(/\s+/g, " "));
    },
    onclosetag: (name) => {
      if (UNSEEN.has(name)) unseen -= 1;
      if (BREAKS.has(name)) pieces.push("\n");
    },
  });
  parser.end(html);
  return pieces.join("").replace(/[ \t]*\n\s*/g, "\n");
}
