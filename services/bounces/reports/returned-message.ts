/** Reads the headers of the returned message, from a part of the report or pasted into its text. */
import { allAddresses } from "./addresses.ts";
import { decodeTransfer } from "./charset.ts";
import { parseHeaders } from "./headers.ts";
import { type Part, splitHeaders } from "./mime.ts";

export interface ReturnedMessage {
  /** Message-ID without angle brackets. */
  messageId: string | null;
  /** Addresses of To, Cc and similar fields. */
  recipients: string[];
}

const RETURNED_TYPES = new Set([
  "message/rfc822",
  "message/global",
  "text/rfc822-headers",
  "message/rfc822-headers",
  "message/global-headers",
  "text/rfc822",
]);

export const isReturnedPart = (part: Part): boolean => RETURNED_TYPES.has(part.type);

const MAX_BLOCK = 64 * 1_024;
const RECIPIENT_HEADERS = [
  "x-failed-recipients",
  "x-hmxmroriginalrecipient",
  "x-rcpt-to",
  "envelope-to",
  "delivered-to",
  "to",
  "cc",
];

export function fromBlock(block: string): ReturnedMessage {
  const headers = parseHeaders(block);
  return {
    messageId: messageIdIn(headers.get("message-id")?.[0] ?? ""),
    recipients: allAddresses(
      RECIPIENT_HEADERS.flatMap((name) => headers.get(name) ?? []),
      100,
    ),
  };
}

export function fromPart(part: Part): ReturnedMessage {
  const encoding = part.headers.get("content-transfer-encoding")?.[0] ?? "";
  const body = decodeTransfer(part.body.slice(0, MAX_BLOCK), encoding).toString("latin1").replace(/\r\n?/g, "\n");
  return fromBlock(splitHeaders(body.replace(/^\s*\n/, "")).block);
}

const MESSAGE_ID = /<([^<>\s\p{C}@]{1,250}@[^<>\s\p{C}]{1,250})>/u;
const BARE_MESSAGE_ID = /^[^<>\s\p{C}@]{1,250}@[^<>\s\p{C}]{1,250}$/u;

export const messageIdIn = (value: string): string | null =>
  MESSAGE_ID.exec(value.slice(0, 2_000))?.[1] ?? BARE_MESSAGE_ID.exec(value.trim())?.[0] ?? null;

const HEADER_LINE = /^(?:>[ ]?)?[A-Za-z][A-Za-z0-9-]{1,50}:(?:[ \t]|$|\S)/;
/** Header fields that do not occur in prose. */
const TELLING =
  /^(?:>[ ]?)?(?:received|return-path|message-id|mime-version|dkim-signature|x-[\w-]+|content-type|delivered-to):/i;

/**
 * Splits a notice from the pasted headers of the returned message: three header lines in a row, at least one of which
 * does not occur in prose. The notice itself may contain a few (`To: …`, `Subject: …`).
 */
export function splitPasted(text: string): { notice: string; pasted: string } {
  let begin = 0;
  let run = 0;
  let telling = false;
  let offset = 0;
  for (const line of text.split("\n")) {
    if (HEADER_LINE.test(line)) {
      if (run === 0) begin = offset;
      run += 1;
      telling ||= TELLING.test(line);
      if (run >= 3 && telling) return { notice: text.slice(0, begin), pasted: text.slice(begin).replace(/^> ?/gm, "") };
    } else if (!/^(?:> ?)?[ \t]+\S/.test(line)) {
      run = 0;
      telling = false;
    }
    offset += line.length + 1;
  }
  return { notice: text, pasted: "" };
}
