import { blockMail } from "../../block.ts";
import { colourOf } from "../../brand.ts";
import { attributes, escaped } from "../../markup.ts";
import { fields } from "./fields.ts";

const lines = (text: string, name: string, footer: string) =>
  [text, ...[name, footer].map((one) => one.replaceAll("[[", "\\[["))]
    .flatMap((one) => one.split(/\r?\n/))
    .filter((one) => one.trim() !== "");

export const mail = blockMail(fields, {
  mjml({ text, unsubscribe, preferences, color, align }, brand) {
    const shown = colourOf(color, brand);
    const link = (url: string, words: string) =>
      words === "" ? [] : [`<a href="[[${url}]]" style="color:${shown ?? "inherit"}">${escaped(words)}</a>`];
    const links = [...link("unsubscribe_url", unsubscribe), ...link("preferences_url", preferences)].join(" | ");
    const html = [...lines(text, brand.companyName, brand.footerText).map(escaped), links].join("<br>");
    return `<mj-text${attributes({ align, color: shown })} font-size="12px">${html}</mj-text>`;
  },
  text({ text, unsubscribe, preferences }, brand) {
    const links = [
      unsubscribe && `${unsubscribe}: [[unsubscribe_url]]`,
      preferences && `${preferences}: [[preferences_url]]`,
    ];
    return [...lines(text, brand.companyName, brand.footerText), ...links].filter(Boolean).join("\n");
  },
});
