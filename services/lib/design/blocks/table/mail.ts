import { blockMail } from "../../block.ts";
import { escaped } from "../../markup.ts";
import { fields } from "./fields.ts";

const CELL = "padding:8px 8px 8px 0;border-bottom:1px solid #d5dae0;text-align:left;vertical-align:top";

export const mail = blockMail(fields, {
  mjml({ header, rows }) {
    const width = rows[0]?.cells.length ?? 0;
    const html = rows.map(({ cells }, no) => {
      const name = header && no === 0 ? 'th scope="col"' : "td";
      const row = Array.from({ length: width }, (_, at) => {
        return `<${name} style="${CELL}">${escaped(cells[at]?.text ?? "")}</${name.slice(0, 2)}>`;
      });
      return `<tr>${row.join("")}</tr>`;
    });
    return `<mj-table>${html.join("")}</mj-table>`;
  },
  text: ({ rows }) => rows.map(({ cells }) => cells.map(({ text }) => text).join(" | ")).join("\n"),
});
