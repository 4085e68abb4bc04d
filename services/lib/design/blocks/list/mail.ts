import { blockMail } from "../../block.ts";
import { escaped } from "../../markup.ts";
import { fields } from "./fields.ts";

const CHECK = "✓";

export const mail = blockMail(fields, {
  mjml({ entries, kind }) {
    const name = kind === "numbers" ? "ol" : "ul";
    const [style, mark] = kind === "checks" ? ["list-style:none;padding:0", `${CHECK} `] : ["padding:0 0 0 24px", ""];
    const html = entries.map(({ text }) => `<li style="margin:0 0 6px">${mark}${escaped(text)}</li>`).join("");
    return `<mj-text><${name} style="margin:0;${style}">${html}</${name}></mj-text>`;
  },
  text({ entries, kind }) {
    const mark = (no: number) => ({ bullets: "-", numbers: `${no + 1}.`, checks: CHECK })[kind];
    return entries.map(({ text }, no) => `${mark(no)} ${text}`).join("\n");
  },
});
