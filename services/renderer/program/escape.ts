/** Escapes a value for its context; for HTML that is services/lib/escape-html.ts. */
export type Escape = (text: string) => string;

export const asIs: Escape = (text) => text;

/** Escapes a header value: control characters and Unicode line separators become spaces. */
export const line: Escape = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");

const ENTITIES: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  // Only used in URLs to hide their scheme.
  colon: ":",
  tab: "\t",
  newline: "\n",
};
const REFERENCE = /&(?:#x([0-9a-f]+);?|#(\d+);?|(amp|lt|gt|quot|apos|nbsp|colon|tab|newline);)/gi;

/** An attribute's text as a browser reads it: numeric references, and the few named ones that occur in URLs. */
export function unescapeHtml(text: string): string {
  return text.replace(REFERENCE, (all, hex, decimal, name) => {
    if (name) return ENTITIES[name.toLowerCase()] ?? all;
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : all;
  });
}

/** Strips markup, for an unescaped value in the text part. */
export const withoutTags: Escape = (text) => (/[<&]/.test(text) ? unescapeHtml(text.replace(/<[^<>]*>/g, "")) : text);
