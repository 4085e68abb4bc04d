/** A string or a bracket that is never closed ends with the text, so that each character is read once. */
const DECLARATION = /(?:[^;"'(]+|"[^"]*(?:"|$)|'[^']*(?:'|$)|\([^)]*(?:\)|$))+/g;

/** The declarations in a `style` attribute or in the block of a rule. Linear in the length of the text. */
export const declarationsIn = (css: string): string[] => (css.match(DECLARATION) ?? []).map((text) => text.trim());
