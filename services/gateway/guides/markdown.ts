/** Renders a page of docs/ as HTML. Headings get the ids that code hosts give them, so that links work in both. */
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "../../lib/escape-html.ts";

/** The id that code hosts give to a heading. */
export const headingId = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");

/** Where a page's file is shown, from another page; undefined: outside of docs/, which the service does not show. */
function shownAt(href: string, root: string): string | undefined {
  if (/^(?:https:|#)/.test(href)) return href;
  const [, page, place = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (!page) return undefined;
  return `${root}${page === "README" ? "" : `${page}/`}${place}`;
}

/** `root` leads from the page to the list of pages. */
export function renderMarkdown(text: string, root: string): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const inner = this.parser.parseInline(tokens);
        return depth === 1 ? `<h1>${inner}</h1>\n` : `<h${depth} id="${headingId(text)}">${inner}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        const target = shownAt(href, root);
        return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
      code: ({ text }: Tokens.Code) => `<pre>${escapeHtml(text)}</pre>\n`,
      tablecell({ header, tokens }: Tokens.TableCell) {
        const inner = this.parser.parseInline(tokens);
        return header ? `<th scope="col">${inner}</th>\n` : `<td>${inner}</td>\n`;
      },
      // Comments are marks for scripts and tests.
      html: () => "",
    },
  });
  return marked.parse(text, { async: false });
}
