/** Variables in texts: `[[first_name|default:friend]]`. */
export interface Field {
  name: string;
  fallback: string;
}

const TAG = /\[\[([\p{L}\p{N}_][\p{L}\p{N}_. -]*)(?:\|default:([^\]|]*))?\]\]/gu;

export const tagOf = ({ name, fallback }: Field): string => `[[${name}${fallback && `|default:${fallback}`}]]`;

/** Brackets and bars would end the tag. */
export const cleanFallback = (text: string): string => text.replaceAll(/[[\]|]/g, "");

/** Splits a text into plain text and variables. Tags of other kinds stay text. */
export function partsOf(text: string): (string | Field)[] {
  const parts: (string | Field)[] = [];
  let end = 0;
  for (const match of text.matchAll(TAG)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push({ name: match[1]!, fallback: match[2] ?? "" });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** A readable name: "first_name" becomes "First name". */
export function labelOf(name: string): string {
  const words = name.replaceAll(/[_.]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
