/** HTML of what was typed as plain text: paragraphs at empty lines, addresses of the web as links. HTML stays as it is. Pure. */

/** A tag, or a comment: what nobody types who writes a letter. */
const MARKUP = /<\/?[a-z][^>]*>|<!/i;
/** Not at a variable's bracket, nor with the full stop of its sentence. */
const WEB_ADDRESS = /https?:\/\/[^\s<>"'[\]]*[^\s<>"'[\].,;:!?)]/g;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const paragraph = (text: string): string =>
  `<p>${escaped(text)
    .replaceAll(WEB_ADDRESS, (address) => `<a href="${address}">${address}</a>`)
    .replaceAll("\n", "<br>\n")}</p>`;

export function htmlOfTyped(typed: string): string {
  if (MARKUP.test(typed)) return typed;
  const paragraphs = typed
    .replaceAll("\r\n", "\n")
    .split(/\n[ \t]*\n/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
  return paragraphs.map(paragraph).join("\n");
}
