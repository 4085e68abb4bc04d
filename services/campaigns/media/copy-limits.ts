/** Limits of image copies. */

export const COPY_FORMATS = ["jpeg", "png", "gif", "webp"] as const;
export type CopyFormat = (typeof COPY_FORMATS)[number];

/** Longest side that the format or its encoder allows; a copy is narrowed to it. */
export const MAX_SIDES: Readonly<Record<CopyFormat, number>> = {
  jpeg: 65_500,
  png: 10_000_000,
  gif: 65_535,
  webp: 16_383,
};

/** A photo of 48 megapixels is read; an image that declares 50,000 × 50,000 in a few bytes is not. All frames together. */
export const MAX_PIXELS = 50_000_000;
export const MAX_FRAMES = 500;
/** Pixels of a copy, all frames together, because encoding takes memory in proportion. */
export const MAX_COPY_PIXELS = 8_000_000;
