/**
 * Renders Markdown (GitHub's) as HTML for a mail. HTML within it stays, as in bodies. While marked runs, words stand for
 * the template's `[[…]]`, so that they stay as written.
 */
import { Marked } from "marked";
import { TagsAside } from "../template/tags-aside.ts";
import { withoutFrames, withPlacedBlocks } from "./block-lines.ts";

/** Replaced by the HTML of the Markdown in a frame of MJML. */
export const MARKDOWN_PLACE = "<!--markdown-->";

// Email clients show no form fields.
const marked = new Marked({ renderer: { checkbox: ({ checked }) => (checked ? "☑ " : "☐ ") } });

/** `markdown`: a template without syntax errors. */
export function htmlOfMarkdown(markdown: string): string {
  const tags = new TagsAside(markdown.replaceAll("\r\n", "\n"));
  const links = new Set<string>();
  const source = tags.text
    // marked would remove the backslash, which makes text of two brackets.
    .replaceAll("\\[[", () => tags.keep("\\[["))
    // Without a scheme marked takes it for an HTML tag.
    .replace(/<([a-z0-9]+)>/g, (all, word: string) => {
      if (!tags.isValue(word)) return all;
      links.add(word);
      return `<https://${word}>`;
    });
  const html = withoutFrames(tags, marked.parse(withPlacedBlocks(tags, source), { async: false }))
    .replace(/https:\/\/([a-z0-9]+)/g, (all, word: string) => (links.has(word) ? word : all))
    .replaceAll("[[", "\\[[")
    // The frame ends at this tag.
    .replace(/<(?=\/?mj-text)/gi, "&lt;");
  return tags.restored(html);
}
