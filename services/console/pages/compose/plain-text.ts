/** HTML of what was typed as plain text: paragraphs at empty lines, addresses of the web as links. HTML stays as it is. Pure. */
import { escapeHtml } from "../../../lib/escape-html.ts";

/** A tag, or a comment: what nobody types who writes a letter. */
const MARKUP = /<\/?[a-z][^>]*>|<!/i;
/** A variable, which stays as it was typed; or an address, not at a variable's bracket, nor with the full stop of its sentence. */
const APART = /(\[\[[^\]\n]*\]{2,3}|https?:\/\/[^\s<>"'[\]]*[^\s<>"'[\].,;:!?)])/;

function withoutMarkup(apart: string): string {
  if (apart.startsWith("[[")) return apart;
  const address = escapeHtml(apart);
  return `<a href="${address}">${address}</a>`;
}

function paragraph(text: string): string {
  const pieces = text.split(APART).map((piece, n) => (n % 2 === 0 ? escapeHtml(piece) : withoutMarkup(piece)));
  return `<p>${pieces.join("").replaceAll("\n", "<br>\n")}</p>`;
}

export function htmlOfTyped(typed: string): string {
  if (MARKUP.test(typed)) return typed;
  const paragraphs = typed
    .replaceAll("\r\n", "\n")
    .split(/\n[ \t]*\n/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
  return paragraphs.map(paragraph).join("\n");
}
