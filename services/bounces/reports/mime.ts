/**
 * Minimal MIME reader for reports. Unlike mailparser it reads a bounded prefix, accepts any number of parts, decodes
 * bodies only on demand, exposes machine-readable parts as such, and never throws.
 */
import { decodeBytes, decodeTransfer, htmlToText } from "./charset.ts";
import { type Headers, parseHeaders, parseParameters } from "./headers.ts";

/**
 * Bytes read of a message. The notice and the machine-readable part come first; so the limit cuts off at most the
 * returned original message.
 */
const MAX_BYTES = 256 * 1_024;
const MAX_PARTS = 100;
const MAX_DEPTH = 8;
/** Maximum characters decoded of one part; the rest is ignored. */
const MAX_TEXT = 64 * 1_024;
/** HTML takes far more CPU to process than plain text. */
const MAX_HTML = 32 * 1_024;

export interface Part {
  /** `text/plain`, in lower case. */
  type: string;
  parameters: Map<string, string>;
  headers: Headers;
  /** Encoded body, one character per byte. */
  body: string;
  /** Parts of a multipart; empty if its boundary never occurs. */
  children: Part[];
}

interface Budget {
  parts: number;
}

export function readMime(raw: Uint8Array): Part {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, MAX_BYTES));
  return readMimeText(bytes.toString("latin1"));
}

/** Parses a message given as a latin1 string. */
export function readMimeText(text: string): Part {
  const source = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  return readPart(source.replace(/^\s+/, ""), "text/plain", 0, { parts: MAX_PARTS });
}

function readPart(source: string, defaultType: string, depth: number, budget: Budget): Part {
  const { block, body } = splitHeaders(source);
  const headers = parseHeaders(block);
  const { main, parameters } = parseParameters(headers.get("content-type")?.[0] ?? "");
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(main) ? main : defaultType;
  const part: Part = { type, parameters, headers, body, children: [] };
  if (!type.startsWith("multipart/") || depth >= MAX_DEPTH) return part;
  const boundary = boundaryOf(parameters.get("boundary") ?? "", body);
  if (!boundary) return { ...part, type: "text/plain" };
  const childType = type === "multipart/digest" ? "message/rfc822" : "text/plain";
  for (const piece of piecesOf(body, boundary, budget))
    part.children.push(readPart(piece, childType, depth + 1, budget));
  return part;
}

export function splitHeaders(source: string): { block: string; body: string } {
  if (source.startsWith("\n")) return { block: "", body: source.slice(1) };
  const end = source.search(/\n[ \t]*\n/);
  if (end < 0) return { block: source, body: "" };
  return { block: source.slice(0, end), body: source.slice(source.indexOf("\n", end + 1) + 1) };
}

/** Returns the boundary in use; gateways that rewrite headers may announce a different one. */
function boundaryOf(announced: string, body: string): string | undefined {
  if (announced && `\n${body}`.includes(`\n--${announced}`)) return announced;
  return /(?:^|\n)--([^\s]{3,200})[ \t]*\nContent-[\w-]{3,30}:/i.exec(body)?.[1];
}

/** Yields the text between boundary lines; the final boundary may be missing. */
function* piecesOf(body: string, boundary: string, budget: Budget): Generator<string> {
  const text = `\n${body}`;
  const mark = `\n--${boundary}`;
  let start = -1;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
    const after = text.slice(at + mark.length, at + mark.length + 2);
    const closes = after === "--";
    // Skip a longer boundary that begins with this one.
    if (!closes && !/^[ \t]*(?:\n|$)/.test(after) && after !== "") continue;
    if (start >= 0) yield text.slice(start, at);
    if (closes || budget.parts <= 0) return;
    budget.parts -= 1;
    const end = text.indexOf("\n", at + 1);
    if (end < 0) return;
    start = end + 1;
  }
  if (start >= 0) yield text.slice(start);
}

/** Returns Returns the leaf parts in document order. An embedded message (message/rfc822) is one leaf. */
export function leavesOf(part: Part): Part[] {
  return part.children.length === 0 ? [part] : part.children.flatMap(leavesOf);
}

const isHtml = (part: Part) => part.type === "text/html";

/** Returns the decoded text with line feeds only; HTML as plain text. */
export function textOf(part: Part): string {
  const bytes = decodeTransfer(part.body.slice(0, MAX_TEXT), part.headers.get("content-transfer-encoding")?.[0] ?? "");
  const text = decodeBytes(bytes, part.parameters.get("charset") ?? "");
  const unixText = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  return isHtml(part) ? htmlToText(unixText.slice(0, MAX_HTML)) : unixText;
}
