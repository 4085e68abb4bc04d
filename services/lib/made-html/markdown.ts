/**
 * Renders Markdown (GitHub's) as HTML for a mail. HTML within it stays, as in bodies. While marked runs, words stand for
 * the template's `[[…]]`, so that they stay as written.
 */
import { Marked } from "marked";
import { TagsAside } from "../template/tags-aside.ts";

/** Replaced by the HTML of the Markdown in a frame of MJML. */
export const MARKDOWN_PLACE = "<!--markdown-->";

// Email clients show no form fields.
const marked = new Marked({ renderer: { checkbox: ({ checked }) => (checked ? "☑ " : "☐ ") } });

/** A loop around nothing but a list, which would make a list of each entry. */
const LOOPED_LIST = /(\[\[#each [^\]]*\]\])\s*<(ul|ol)>((?:(?!<\/?\2>)[\s\S])*)<\/\2>\s*(\[\[\/each\]\])/g;

/** `markdown`: a template without syntax errors. */
export function htmlOfMarkdown(markdown: string): string {
  const tags = new TagsAside(markdown.replaceAll("\r\n", "\n"));
  const source = tags.text
    // marked would remove the backslash, which makes text of two brackets.
    .replaceAll("\\[[", () => tags.keep("\\[["))
    .split("\n")
    // A condition or loop on a line of its own stands between paragraphs.
    .map((line) => (tags.isOnlyBlocks(line) ? `\n${line.trim()}\n` : line))
    .join("\n");
  const html = marked
    .parse(source, { async: false })
    .replace(/<p>([a-z0-9\s]*)<\/p>/g, (paragraph, words: string) => (tags.isOnlyBlocks(words) ? words : paragraph))
    .replaceAll("[[", "\\[[")
    // The frame ends at this tag.
    .replace(/<(?=\/?mj-text)/gi, "&lt;");
  return tags.restored(html).replace(LOOPED_LIST, "<$2>$1$3$4</$2>");
}
