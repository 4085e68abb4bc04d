/** Escapes text for HTML and XML: between tags, and in attributes with either kind of quotes. */
const REFERENCES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// Most values need no escaping: a test is cheaper than a replacement that finds nothing.
export const escapeHtml = (text: string): string =>
  /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (char) => REFERENCES[char]!) : text;

const CHARACTERS = Object.fromEntries(Object.entries(REFERENCES).map(([char, reference]) => [reference, char]));

/** Reverts `escapeHtml`; knows no other references. */
export const unescapeHtml = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (reference) => CHARACTERS[reference]!);
