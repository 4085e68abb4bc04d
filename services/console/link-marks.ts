/** A mail's HTML with a mark behind each of its links, and with links that lead nowhere: it is looked at, not used. */
import { Parser } from "htmlparser2";

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

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

interface Change {
  at: number;
  /** Characters that go. */
  length: number;
  text: string;
}

const HREF = /(?<=\shref)(?=\s*=)/i;

/** `markOf` what stands behind a link to that address; undefined for one that is not counted. */
export function withMarks(html: string, markOf: (href: string) => string | undefined): string {
  const changes: Change[] = [];
  const open: (string | undefined)[] = [];
  const parser = new Parser(
    {
      onopentag(name, { href }) {
        if (name !== "a") return;
        open.push(href === undefined ? undefined : markOf(href.trim()));
        const tag = html.slice(parser.startIndex, parser.endIndex + 1);
        const at = tag.search(HREF);
        if (at >= 0) changes.push({ at: parser.startIndex + at - "href".length, length: 0, text: "data-" });
      },
      onclosetag(name, isImplied) {
        if (name !== "a") return;
        const mark = open.pop();
        if (mark === undefined) return;
        const at = isImplied ? parser.startIndex : parser.endIndex + 1;
        changes.push({ at, length: 0, text: `<span style="${MARK_STYLE}">${escaped(mark)}</span>` });
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  let out = "";
  let from = 0;
  for (const { at, length, text } of changes) {
    if (at < from) continue;
    out += html.slice(from, at) + text;
    from = at + length;
  }
  return out + html.slice(from);
}
