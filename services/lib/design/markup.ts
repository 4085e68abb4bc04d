/** Text of a design in MJML and in the text part. Variables stay; everything else is text. */
import { escapeHtml } from "../escape-html.ts";
import { type Brand, colourOf } from "./brand.ts";
import type { Inline, Mark, Paragraph, RichText } from "./fields.ts";

/** Literal brackets, and tags, which are not escaped: their default texts are, when the mail is rendered. */
const TAG = /(\\\[\[|\[\[.*?\]\])/s;

/** Comment before what a block became, only in HTML that is made for a check (lib/mail-check). */
export const blockMark = (path: string): string => `<!--block ${path}-->`;
export const BLOCK_MARK = /^block (\S+)$/;

/** A line of text in HTML, between tags and in attributes. */
export const escaped = (text: string): string =>
  text
    .split(TAG)
    .map((part, no) => (no % 2 === 0 ? escapeHtml(part) : part))
    .join("");

/** ` name="value"` for each value that is not undefined. */
export const attributes = (values: Record<string, string | number | undefined>): string =>
  Object.entries(values)
    .map(([name, value]) => (value === undefined || value === "" ? "" : ` ${name}="${escaped(String(value))}"`))
    .join("");

const TAGS = { bold: "strong", italic: "em", underline: "u", strike: "s" } as const;

function marked(html: string, { type, attrs }: Mark, brand: Brand): string {
  if (type === "link") return `<a${attributes({ href: attrs?.href })}>${html}</a>`;
  if (type === "colour")
    return `<span style="color:${colourOf(attrs?.value ?? "", brand) ?? "inherit"}">${html}</span>`;
  return `<${TAGS[type]}>${html}</${TAGS[type]}>`;
}

const inlineHtml = ({ type, text = "", marks = [] }: Inline, brand: Brand): string =>
  marks.reduceRight((html, mark) => marked(html, mark, brand), type === "break" ? "<br>" : escaped(text));

const paragraphHtml = ({ attrs, content = [] }: Paragraph, brand: Brand, isLast: boolean): string => {
  const align = attrs?.align ? `;text-align:${attrs.align}` : "";
  const html = content.map((one) => inlineHtml(one, brand)).join("") || "&nbsp;";
  return `<p style="margin:0${isLast ? "" : " 0 12px"}${align}">${html}</p>`;
};

export const richHtml = ({ content }: RichText, brand: Brand): string =>
  content
    .map((one, no) => {
      const isLast = no === content.length - 1;
      if (one.type === "paragraph") return paragraphHtml(one, brand, isLast);
      const name = one.type === "bullets" ? "ul" : "ol";
      const entries = one.content.map(
        (item) => `<li style="margin:0 0 6px">${item.content.map((p) => paragraphHtml(p, brand, true)).join("")}</li>`,
      );
      return `<${name} style="margin:0${isLast ? "" : " 0 12px"};padding:0 0 0 24px">${entries.join("")}</${name}>`;
    })
    .join("");

const inlineText = ({ type, text = "", marks = [] }: Inline): string => {
  if (type === "break") return "\n";
  const href = marks.find((mark) => mark.type === "link")?.attrs?.href;
  return linkText(text, href);
};

/** A link in the text part: its words, then its address unless the words are the address. */
export const linkText = (words: string, href = ""): string => {
  if (href === "" || href === words) return words;
  return words === "" ? href : `${words} (${href})`;
};

const paragraphText = ({ content = [] }: Paragraph) => content.map(inlineText).join("");

export const richText = ({ content }: RichText): string =>
  content
    .map((one) => {
      if (one.type === "paragraph") return paragraphText(one);
      return one.content
        .map(
          (item, no) =>
            `${one.type === "bullets" ? "-" : `${no + 1}.`} ${item.content.map(paragraphText).join("\n  ")}`,
        )
        .join("\n");
    })
    .join("\n\n");
