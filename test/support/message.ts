/** Rules for the bytes of every message. Each function returns the violations. */
import { simpleParser } from "mailparser";

export function faultsOfBytes(message: Buffer, options: { utf8?: boolean } = {}): string[] {
  const text = message.toString("latin1");
  const errors: string[] = [];
  if (!text.endsWith("\r\n")) errors.push("the last line is not ended");
  if (/\r(?!\n)|(?<!\r)\n/.test(text)) errors.push("a bare CR or LF");
  if (!options.utf8 && /[^\x00-\x7f]/.test(text)) errors.push("a byte beyond ASCII");
  if (text.includes("\0")) errors.push("a NUL");
  for (const line of text.split("\r\n")) {
    if (line.length > 998) errors.push(`a line of ${line.length} octets`);
    if (line.startsWith(".")) errors.push(`a line that begins with a dot: ${line.slice(0, 20)}`);
  }
  const head = text.slice(0, text.indexOf("\r\n\r\n"));
  for (const field of head.split(/\r\n(?![ \t])/)) {
    if (!/^[A-Za-z0-9-]+:/.test(field)) errors.push(`not a header field: ${field.slice(0, 40)}`);
    if (field.split("\r\n").some((line) => line.trim() === ""))
      errors.push(`an empty folded line in ${field.slice(0, 20)}`);
  }
  return errors;
}

/** The unfolded raw field of a header; undefined if missing, an error if repeated. */
export function fieldOf(message: Buffer, name: string): string | undefined {
  const text = message.toString("latin1");
  const fields = text.slice(0, text.indexOf("\r\n\r\n")).split(/\r\n(?![ \t])/);
  const named = fields.filter((field) => field.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  if (named.length > 1) throw new Error(`${named.length} fields ${name}`);
  return named[0]
    ?.slice(name.length + 1)
    .replaceAll("\r\n", "")
    .trim();
}

/** Parses with mailparser; keeps line ends of the parts as rendered. */
export async function read(message: Buffer) {
  const parsed = await simpleParser(message, {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
  });
  const html = parsed.html === false ? "" : parsed.html.replaceAll("\r\n", "\n");
  return { ...parsed, html, text: (parsed.text ?? "").replaceAll("\r\n", "\n") };
}

/** Decodes encoded words (RFC 2047), joining adjacent ones. */
export function decodeWords(field: string): string {
  const joined = field.replace(/\?=\s+=\?/g, "?==?");
  const bytes = joined.replace(/=\?utf-8\?([BQ])\?([^?]*)\?=/g, (_all, kind, text: string) => {
    if (kind === "B") return Buffer.from(text, "base64").toString("latin1");
    return text
      .replaceAll("_", " ")
      .replace(/=([0-9A-F]{2})/g, (_code, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  });
  return Buffer.from(bytes, "latin1").toString();
}
