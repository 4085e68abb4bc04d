/** Renders a text as a QR code (ISO/IEC 18004) for an SVG in the page. */
import { encode } from "uqr";

/** Quiet zone around the code, which cameras need. */
const MARGIN = 4;
/** Longer texts make modules too small for a camera on a phone's screen. */
const MAX_BYTES = 660;

/**
 * Draws a QR code as one path in units of modules, one stroke per run of dark modules; 15 % of the code may be
 * unreadable (level M). Returns undefined if the text is too long.
 */
export function qrPath(text: string): { size: number; path: string } | undefined {
  if (Buffer.byteLength(text) > MAX_BYTES) return undefined;
  const { data, size } = encode(text, { ecc: "M", border: MARGIN });
  const runs = data.flatMap((row, y) => {
    const found: string[] = [];
    for (let from = 0, to = 1; from < row.length; from = to++) {
      while (to < row.length && row[to] === row[from]) to++;
      if (row[from]) found.push(`M${from} ${y}h${to - from}v1h${from - to}z`);
    }
    return found;
  });
  return { size, path: runs.join("") };
}
