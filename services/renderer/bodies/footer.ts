/**
 * The footer added to a body without an unsubscribe link, which law and mailbox providers require in marketing mail. It
 * is in the language that the body declares, if there is a catalogue for it.
 */
import { escapeHtml } from "../../lib/escape-html.ts";
import { catalogues } from "../../lib/i18n/languages.ts";
import { bodyEnd } from "./visible.ts";

const literally = (text: string) =>
  escapeHtml(text)
    .replaceAll("[[", "\\[[")
    .replace(/\r\n?|\n/g, "<br>");

const LANGUAGE = /<html\s[^<>]*?\blang\s*=\s*["']?([a-z]{2})(?:-[\w-]*)?["'\s>]/i;

function wordsFor(body: string) {
  const code = LANGUAGE.exec(body)?.[1]?.toLowerCase() ?? "";
  const catalogue = Object.hasOwn(catalogues, code) ? catalogues[code] : undefined;
  // Sets `lang`: a screen reader would otherwise pronounce the English words by the rules of the body's language.
  return { ...(catalogue ?? catalogues.en!).mailFooter, mark: catalogue ? "" : ' lang="en"' };
}

interface Company {
  companyName: string;
  footerText: string;
}

export function withFooter(body: string, { companyName, footerText }: Company): string {
  const lines = [companyName, footerText].filter((text) => text.trim() !== "").map(literally);
  const style = "margin:32px 0 0;padding:16px;font:12px/1.5 sans-serif;color:#595959;text-align:center";
  const { unsubscribe, preferences, mark } = wordsFor(body);
  const link = (url: string, word: string) => `<a href="[[${url}]]"${mark} style="color:#595959">${word}</a>`;
  const links = `${link("unsubscribe_url", unsubscribe)} | ${link("preferences_url", preferences)}`;
  const footer = `<div style="${style}">${[...lines, links].join("<br>")}</div>\n`;
  const at = bodyEnd(body);
  return `${body.slice(0, at)}${footer}${body.slice(at)}`;
}

/** The same at the end of a text part; `body` declares the language. */
export function withTextFooter(text: string, { companyName, footerText }: Company, body: string): string {
  const lines = [companyName, footerText]
    .filter((line) => line.trim() !== "")
    .map((line) => line.replaceAll("[[", "\\[["));
  const { unsubscribe, preferences } = wordsFor(body);
  const links = [`${unsubscribe}: [[unsubscribe_url]]`, `${preferences}: [[preferences_url]]`];
  return `${text.trimEnd()}\n\n${[...lines, ...links].join("\n")}\n`;
}
