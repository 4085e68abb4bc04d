/** A mail's HTML with a mark behind each of its links, and with links that lead nowhere: it is looked at, not used. */
import { Parser } from "htmlparser2";
import { escapeHtml } from "../lib/escape-html.ts";

/** `all` keeps the mail's own style off it. */
const MARK_STYLE = [
  "all:initial",
  "display:inline-block",
  "margin:0 0 0 4px",
  "padding:1px 6px",
  "border-radius:8px",
  "background:#1a4fc4",
  "color:#fff",
  "font:600 12px/1.4 sans-serif",
  "vertical-align:middle",
  "white-space:nowrap",
]
  .map((rule) => `${rule}!important`)
  .join(";");

/** What has no address is no link to a browser; the mail's own style comes first. */
const LINKS_STYLE = "<style>:where(a[data-href]){color:#1a4fc4;text-decoration:underline}</style>";

interface Insertion {
  at: number;
  text: string;
}

/** `markOf` what stands behind a link to that address; undefined for one that is not counted. */
export function withMarks(html: string, markOf: (href: string) => string | undefined): string {
  const insertions: Insertion[] = [];
  const open: (string | undefined)[] = [];
  let tag = "";
  const parser = new Parser({
    onopentagname(name) {
      tag = name;
    },
    onattribute(name) {
      // Another attribute keeps the address, and nobody follows it.
      if (name === "href" && (tag === "a" || tag === "area")) insertions.push({ at: parser.startIndex, text: "data-" });
    },
    onopentag(name, { href }) {
      if (name === "a") open.push(href === undefined ? undefined : markOf(href.trim()));
    },
    onclosetag(name, isImplied) {
      if (name !== "a") return;
      const mark = open.pop();
      if (mark === undefined) return;
      const at = isImplied ? parser.startIndex : parser.endIndex + 1;
      insertions.push({ at, text: `<span style="${MARK_STYLE}">${escapeHtml(mark)}</span>` });
    },
  });
  parser.end(html);
  let out = "";
  let from = 0;
  for (const { at, text } of insertions) {
    out += html.slice(from, at) + text;
    from = at;
  }
  return `${out}${html.slice(from)}${LINKS_STYLE}`;
}
