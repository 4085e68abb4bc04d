/**
 * Reads how many pixels an image declares, from its first bytes: a picture of 900 megapixels takes 300 KB as a file and
 * gigabytes in the browser that shows it.
 */
type Size = [width: number, height: number];

const START_OF_FRAME = /^c[0-35-79-bd-f]$/;

function jpegSize(head: Buffer): Size {
  let at = 2;
  for (;;) {
    // Any number of filling bytes precedes a marker.
    while (head.readUInt8(at + 1) === 0xff) at++;
    if (START_OF_FRAME.test(head[at + 1]!.toString(16))) return [head.readUInt16BE(at + 7), head.readUInt16BE(at + 5)];
    at += 2 + head.readUInt16BE(at + 2);
  }
}

/** Browsers show no PNG that begins with another chunk. */
const pngSize = (head: Buffer): Size =>
  head.toString("latin1", 12, 16) === "IHDR" ? [head.readUInt32BE(16), head.readUInt32BE(20)] : [0, 0];

function webpSize(head: Buffer): Size {
  const kind = head.toString("latin1", 12, 16);
  if (kind === "VP8X") return [head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1];
  if (kind === "VP8 ") return [head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff];
  const both = head.readUInt32LE(21);
  return [(both & 0x3fff) + 1, ((both >>> 14) & 0x3fff) + 1];
}

/** The largest of the properties: an image may consist of tiles. */
function avifSize(head: Buffer): Size {
  let largest: Size = [0, 0];
  for (let at = head.indexOf("ispe"); at >= 0; at = head.indexOf("ispe", at + 4)) {
    const size: Size = [head.readUInt32BE(at + 8), head.readUInt32BE(at + 12)];
    if (size[0] * size[1] > largest[0] * largest[1]) largest = size;
  }
  return largest;
}

const SIZES: Readonly<Record<string, (head: Buffer) => Size>> = {
  "image/png": pngSize,
  "image/gif": (head) => [head.readUInt16LE(6), head.readUInt16LE(8)],
  "image/jpeg": jpegSize,
  "image/webp": webpSize,
  "image/avif": avifSize,
};

/** Returns width times height; 0 for other types, and if the size is not among these bytes. */
export function declaredPixels(head: Buffer, contentType: string): number {
  try {
    const [width, height] = SIZES[contentType]?.(head) ?? [0, 0];
    return width * height;
  } catch (error) {
    if (error instanceof RangeError) return 0;
    throw error;
  }
}
