/**
 * Builds a preview document of a rendered mail for a frame. The chosen view decides what the reader's device prefers,
 * not the user's own device: media queries for light and dark are replaced by ones that always or never match.
 */
import { escapeHtml } from "../lib/escape-html.ts";

export const VIEWS = ["desktop", "phone", "dark", "text"] as const;
export type View = (typeof VIEWS)[number];

export const viewOf = (text: string | undefined): View => VIEWS.find((one) => one === text) ?? "desktop";

const ALWAYS = "min-width:0";
const NEVER = "max-width:0";

const SCHEME_NAME = /\bcolor-scheme/i;
const BOTH_SCHEMES = /(\bcontent\s*=\s*(?:["']\s*)?)(?:only\s+)?(?:light\s+dark|dark\s+light)\b/i;

/** Tags are matched up to the next `<`, so that many unclosed ones take linear time. */
function preferring(look: "light" | "dark", html: string): string {
  return (
    html
      .replace(/prefers-color-scheme\s*:\s*(light|dark)/gi, (_, wanted: string) =>
        wanted.toLowerCase() === look ? ALWAYS : NEVER,
      )
      // A mail that declares both schemes gets the chosen one; a mail that declares none is never darkened.
      .replace(
        /(?<![\w-])((?:supported-)?color-schemes?\s*:\s*)(?:only\s+)?(?:light\s+dark|dark\s+light)\b/gi,
        `$1${look}`,
      )
      .replace(/<meta\b[^<>]*>/gi, (tag) => (SCHEME_NAME.test(tag) ? tag.replace(BOTH_SCHEMES, `$1${look}`) : tag))
  );
}

const DARK = /prefers-color-scheme\s*:\s*dark|\bcolor-schemes?\b[^;}<>]{0,40}\bdark\b/i;

/** Whether a mail has colors of its own for dark mode, or leaves it to the reader's device. */
export const hasDarkColors = (html: string): boolean => DARK.test(html);

/** Opens links in a new window, which the sandbox blocks: otherwise they would replace the preview. */
const NO_LINKS = '<base target="_blank">';

function withHead(html: string): string {
  const at = /<head\b[^<>]*>/i.exec(html) ?? /<html\b[^<>]*>/i.exec(html) ?? /<!doctype\b[^<>]*>/i.exec(html);
  const end = at ? at.index + at[0].length : 0;
  return `${html.slice(0, end)}${NO_LINKS}${html.slice(end)}`;
}

const page = (style: string, body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Preview</title><style>${style}</style></head><body>${body}</body></html>`;

const PLAIN = "body{margin:1rem;font:1rem/1.5 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}";

export function lookOf({ html, text }: { html: string; text: string }, view: View): string {
  if (view === "text") return page(PLAIN, escapeHtml(text));
  return withHead(preferring(view === "dark" ? "dark" : "light", html));
}

/** Document for a frame whose mail cannot be shown. */
export const sentencesPage = (sentences: readonly string[]): string =>
  page(
    "body{margin:1rem;font:1rem/1.5 system-ui,sans-serif}",
    sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join(""),
  );

/** Rendered HTML as a body for a check: brackets that a variable's value inserted are text. */
export const asText = (html: string): string => html.replaceAll("[[", "\\[[");
