/** Makes the HTML and the text part of Markdown, in the company's fonts and colours. */
import { readDesignSource } from "../../models/statements/read-design-source.ts";
import { colourOf, FONTS } from "../lib/design/brand.ts";
import { mjmlOf, type Source } from "../lib/design/compile.ts";
import { notFound } from "../lib/errors.ts";
import { htmlOf } from "../lib/made-html/make-html.ts";
import { MARKDOWN_PLACE } from "../lib/made-html/markdown.ts";
import { isTypedText } from "../lib/made-html/typed-text.ts";
import { textErrors } from "../lib/template/template-errors.ts";
import type { Made } from "../made-design.ts";

/** Conditions and loops on a line of their own, which would leave an empty line in the text part. */
const BLOCK_LINE = /^[ \t]*((?:\[\[[#/][^\]\n]*\]\][ \t]*)+)\r?\n/gm;

/** Styles of what Markdown makes, besides those of all designs. MJML's own tables are outside of `.md`. */
const styles = ({ brand }: Source) => `
  .md h1,.md h2,.md h3,.md h4 { margin: 0 0 8px; font-family: ${FONTS[brand.headingFont]}; line-height: 1.25; }
  .md h1 { font-size: 28px; } .md h2 { font-size: 22px; } .md h3,.md h4 { font-size: 18px; }
  .md p,.md ul,.md ol,.md pre,.md table { margin: 0 0 16px; }
  .md ul,.md ol { padding: 0 0 0 24px; }
  .md li { margin: 0 0 6px; }
  .md img { max-width: 100%; height: auto; border: 0; }
  .md blockquote { margin: 0 0 16px; padding: 0 0 0 16px; border-left: 4px solid ${colourOf("brand.primary", brand)}; }
  .md pre { padding: 12px; background: #f4f5f7; color: #1f2328; white-space: pre-wrap; }
  .md th,.md td { padding: 4px 12px 4px 0; border-bottom: 1px solid #d0d4da; }
  .md hr { margin: 24px 0; border: 0; border-top: 1px solid #d0d4da; }`;

function frameOf(source: Source): string {
  const html = { type: "html", html: `<div class="md" style="padding:8px 24px">${MARKDOWN_PLACE}</div>` };
  const mjml = mjmlOf({ version: 1, blocks: [{ type: "section", columns: [{ blocks: [html] }] }] }, source);
  return mjml.replace("</mj-head>", `<mj-style inline="inline">${styles(source)}</mj-style></mj-head>`);
}

/** The errors name line and column of the Markdown. Throws 429 or 503 if too much waits for a thread. */
export async function madeMarkdown(companyId: string, markdown: string, inlinesCss: boolean): Promise<Made> {
  const errors = textErrors(markdown);
  if (errors.length > 0) return { errors };
  if (markdown.trim() === "") return { html: "", text: null };
  const source = await readDesignSource(companyId, []);
  if (!source) throw notFound();
  const made = await htmlOf(companyId, { body: frameOf(source), markdown, isMjml: true, inlinesCss });
  if (made.errors) return made;
  // HTML within Markdown would be read as text; the text part is then derived from the body.
  return { html: made.html, text: isTypedText(markdown) ? markdown.replace(BLOCK_LINE, "$1") : null };
}
