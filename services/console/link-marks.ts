/** Adds a mark after each link of a mail's HTML and disables the links, because this copy is only looked at. */
import { Parser } from "htmlparser2";
import { escapeHtml } from "../lib/escape-html.ts";

/** `all` protects the mark from the mail's own styles. */
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

/** Browsers do not style a link without href. The rule has no specificity, so that the mail's own style wins. */
const LINKS_STYLE = "<style>:where(a[data-href]){color:#1a4fc4;text-decoration:underline}</style>";

interface Insertion {
  at: number;
  text: string;
}

/** `markOf` returns the mark for a link's URL, or undefined for links that are not counted. */
export function withMarks(html: string, markOf: (href: string) => string | undefined): string {
  const insertions: Insertion[] = [];
  const open: (string | undefined)[] = [];
  let tag = "";
  const parser = new Parser({
    onopentagname(name) {
      tag = name;
    },
    onattribute(name) {
      // Moves the URL to another attribute, so that the link cannot be followed.
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
