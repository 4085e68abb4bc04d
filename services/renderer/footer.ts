/**
 * The footer of a body that has no way to unsubscribe: law and mailbox providers ask for one in marketing mail. In the
 * language that the body says it is in, where we speak it.
 */
import { catalogues } from "../lib/i18n/languages.ts";
import { bodyEnd } from "./bodies/visible.ts";
import { html } from "./escape.ts";

const literally = (text: string) =>
  html(text)
    .replaceAll("[[", "\\[[")
    .replace(/\r\n?|\n/g, "<br>");

const LANGUAGE = /<html\s[^<>]*?\blang\s*=\s*["']?([a-z]{2})(?:-[\w-]*)?["'\s>]/i;

function wordsFor(body: string) {
  const code = LANGUAGE.exec(body)?.[1]?.toLowerCase() ?? "";
  const own = Object.hasOwn(catalogues, code) ? catalogues[code] : undefined;
  // A screen reader reads English words by English rules only where it is told.
  return { ...(own ?? catalogues.en!).mailFooter, mark: own ? "" : ' lang="en"' };
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
