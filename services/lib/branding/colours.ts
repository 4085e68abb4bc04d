/** Computes the contrast of colours `#rrggbb` (WCAG 2.2, 1.4.3). */

/** Minimum contrast of text (level AA), and of field borders (1.4.11). */
export const TEXT_CONTRAST = 4.5;
export const LINE_CONTRAST = 3;

const BLACK = "#000000";
const WHITE = "#ffffff";

export const isColour = (text: unknown): text is string => typeof text === "string" && /^#[0-9a-f]{6}$/i.test(text);

const channels = (colour: string): number[] => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

function luminance(colour: string): number {
  const [red, green, blue] = channels(colour)
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Contrast from 1, the same colour, to 21, black on white. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter! + 0.05) / (darker! + 0.05);
}

/** True if white text has more contrast than black. */
export const isDark = (ground: string): boolean => contrast(ground, WHITE) > contrast(ground, BLACK);

function mixed(colour: string, into: string, share: number): string {
  const target = channels(into);
  const values = channels(colour).map((value, i) => Math.round(value + (target[i]! - value) * share));
  return `#${values.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

const STEPS = 20;

/**
 * The colour itself if its contrast is sufficient, else the nearest sufficient mix with black or white. One always
 * exists: on every colour, black or white has a contrast of at least 4.58.
 */
export function readableOn(ground: string, colour: string, least: number): string {
  const away = isDark(ground) ? WHITE : BLACK;
  for (let step = 0; step < STEPS; step++) {
    const candidate = mixed(colour, away, step / STEPS);
    if (contrast(candidate, ground) >= least) return candidate;
  }
  return away;
}
