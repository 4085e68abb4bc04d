/**
 * Encodes quoted-printable (RFC 2045 section 6.7) in parts: static text is encoded once, values on the fly, and both
 * can be joined because each part knows its start column. A "." or "From " never begins a line, so that no dot needs
 * stuffing and no mailbox format escapes anything (which would break a DKIM signature).
 */
const MAX_COLUMN = 75;
export const SOFT_BREAK = "=\r\n";

const LF = 10;
const SPACE = 32;
const TAB = 9;

const codes = Array.from({ length: 256 }, (_, byte) => {
  const literal = (byte > 32 && byte < 127 && byte !== 61) || byte === SPACE || byte === TAB;
  return literal ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
});

export interface Encoded {
  text: string;
  /** The column after the last character. */
  column: number;
}

export function encodeQuotedPrintable(text: string, startColumn = 0): Encoded {
  const bytes = Buffer.from(/\r/.test(text) ? text.replace(/\r\n?/g, "\n") : text);
  let out = "";
  let column = startColumn;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === LF) {
      out += "\r\n";
      column = 0;
      continue;
    }
    let code = codes[byte]!;
    const next = bytes[i + 1];
    if ((byte === SPACE || byte === TAB) && next === LF) code = byte === SPACE ? "=20" : "=09";
    if (column + code.length > MAX_COLUMN) {
      out += SOFT_BREAK;
      column = 0;
    }
    if (column === 0) {
      if (byte === 46) code = "=2E";
      else if (byte === 70 && bytes.toString("latin1", i, i + 5) === "From ") code = "=46";
    }
    out += code;
    column += code.length;
  }
  return { text: out, column };
}
