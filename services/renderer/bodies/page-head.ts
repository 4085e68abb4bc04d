/** Adds what an email's HTML lacks as a web page: a title, and the language for screen readers. */
import { escapeHtml } from "../../lib/escape-html.ts";
import { type Change, changed, insertion } from "../../lib/text-changes.ts";
import { outlineOf } from "./html-outline.ts";
import { PLACEHOLDER } from "./text-in-html.ts";

const DOCTYPE = /^\s*<!doctype[^>]*>/i;
const LANG = /\slang\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*))/i;

/** `und` says that it is not known. */
function declared(tag: string): boolean {
  const [, ...values] = LANG.exec(tag) ?? [];
  const language = values.find((value) => value !== undefined)?.trim() ?? "";
  return language !== "" && language.toLowerCase() !== "und";
}

/** Inserts PLACEHOLDER for the title, unless there is one; `language` applies if none is declared. */
export function withPageHead(body: string, language: string): string {
  const { opens, titles } = outlineOf(body);
  const changes: Change[] = [];
  const [page, head] = ["html", "head"].map((name) => opens.find((open) => open.name === name));
  const [title] = titles;
  const lang = ` lang="${escapeHtml(language)}"`;
  if (page) {
    const tag = body.slice(page.at, page.end);
    const nameEnd = page.at + "<html".length;
    const found = LANG.exec(tag);
    if (!declared(tag)) {
      const start = found ? page.at + found.index : nameEnd;
      changes.push({ start, end: start + (found?.[0].length ?? 0), text: lang });
    }
  }
  const ownTitle = `<title>${PLACEHOLDER}</title>`;
  if (title && body.slice(title.start, title.end).trim() === "") changes.push({ ...title, text: PLACEHOLDER });
  else if (!title && head) changes.push(insertion(head.end, ownTitle));
  else if (!title && page) changes.push(insertion(page.end, `<head>${ownTitle}</head>`));
  if (!page) {
    const start = DOCTYPE.exec(body)?.[0].length ?? 0;
    const begin = `${start === 0 ? "<!doctype html>" : ""}<html${lang}>`;
    changes.unshift(insertion(start, title || head ? begin : `${begin}<head>${ownTitle}</head>`));
  }
  return changed(body, changes);
}
