/** Renders a page of docs/ as HTML. Heading ids follow the code hosts' rules, so links work in both. */
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "../../lib/escape-html.ts";

/** The id that code hosts derive from a heading. */
export const headingId = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");

/** The address of a linked page of docs/. Undefined for files outside of docs/, which are not served. */
function shownAt(href: string, root: string): string | undefined {
  if (/^(?:https:|#)/.test(href)) return href;
  const [, page, place = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (!page) return undefined;
  return `${root}${page === "README" ? "" : `${page}/`}${place}`;
}

/** `root` is the relative path from the page to the list of pages. */
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
      image: ({ href, text }: Tokens.Image) =>
        `<img src="${escapeHtml(root + href)}" alt="${escapeHtml(text)}" loading="lazy">`,
      code: ({ text }: Tokens.Code) => `<pre>${escapeHtml(text)}</pre>\n`,
      tablecell({ header, tokens }: Tokens.TableCell) {
        const inner = this.parser.parseInline(tokens);
        return header ? `<th scope="col">${inner}</th>\n` : `<td>${inner}</td>\n`;
      },
      // HTML comments are marks for scripts and tests.
      html: () => "",
    },
  });
  return marked.parse(text, { async: false });
}
