/** Reads the colours of style attributes, as far as email clients understand them. */

const NAMES: Record<string, string> = {
  black: "#000000",
  silver: "#c0c0c0",
  gray: "#808080",
  grey: "#808080",
  white: "#ffffff",
  maroon: "#800000",
  red: "#ff0000",
  purple: "#800080",
  green: "#008000",
  lime: "#00ff00",
  olive: "#808000",
  yellow: "#ffff00",
  navy: "#000080",
  blue: "#0000ff",
  teal: "#008080",
  orange: "#ffa500",
};

const hex = (value: string) => Math.min(255, Number(value)).toString(16).padStart(2, "0");

/** `#rrggbb`; undefined if unknown, such as a variable or a transparent colour. */
export function colourIn(value: string): string | undefined {
  const text = value
    .replace(/!important/i, "")
    .trim()
    .toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(text)) return text;
  if (/^#[0-9a-f]{3}$/.test(text)) return `#${[...text.slice(1)].map((one) => one + one).join("")}`;
  const [, red, green, blue] = /^rgb\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)\s*\)$/.exec(text) ?? [];
  return red ? `#${[red, green!, blue!].map(hex).join("")}` : NAMES[text];
}

/** The colour of a `background`; null if it has an image, a gradient or an unknown colour, undefined if it has none. */
export function backgroundIn(value: string): string | null | undefined {
  if (/url\(|gradient|\[\[|rgba|hsl/i.test(value)) return null;
  const parts = value.match(/rgb\([^)]*\)|[^\s]+/gi) ?? [];
  return parts.map(colourIn).find((colour) => colour !== undefined);
}
