/**
 * A mail as a mailbox shows it that is dark, or light, whatever this browser prefers: what the mail itself asks of the
 * reader's preference is answered in its text, because browsers differ in what a frame inherits. Pure.
 */
type Scheme = "light" | "dark";

const QUESTION = /\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi;
const EITHER = /(color-scheme\s*:\s*|<meta\s[^>]*content\s*=\s*["']\s*)(?:only\s+)?(?:light\s+dark|dark\s+light)\b/gi;

/** Always so, and never. */
const [YES, NO] = ["(min-width: 0)", "(max-width: 0)"];

export const inScheme = (html: string, scheme: Scheme): string =>
  html
    .replaceAll(QUESTION, (_, asked: string) => (asked.toLowerCase() === scheme ? YES : NO))
    .replaceAll(EITHER, (_, before: string) => `${before}${scheme}`);
