/** A text as a QR code (ISO/IEC 18004) for an SVG of the page's own: what cameras read of a screen. */
import { encode } from "uqr";

/** Modules of light around a code, without which cameras do not find it. */
const MARGIN = 4;
/** Longer ones make squares that a camera no longer tells apart on a phone's screen. */
const MAX_BYTES = 660;

/**
 * As one path in units of modules, a stroke for each run of dark ones; 15 % of it may be unreadable (level M). Undefined for
 * what is too long.
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
