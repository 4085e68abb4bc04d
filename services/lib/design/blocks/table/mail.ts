import { blockMail } from "../../block.ts";
import { escaped } from "../../markup.ts";
import { fields } from "./fields.ts";

const CELL = "padding:8px 8px 8px 0;border-bottom:1px solid #d5dae0;text-align:left;vertical-align:top";

export const mail = blockMail(fields, {
  mjml({ header, rows }) {
    const width = rows[0]?.cells.length ?? 0;
    const html = rows.map(({ cells }, no) => {
      const row = Array.from({ length: width }, (_, at) => {
        const text = escaped(cells[at]?.text ?? "");
        if (header && no === 0) return `<th scope="col" style="${CELL}">${text}</th>`;
        // Screen readers name the row by its first cell.
        return at === 0 && width > 1
          ? `<th scope="row" style="${CELL};font-weight:normal">${text}</th>`
          : `<td style="${CELL}">${text}</td>`;
      });
      return `<tr>${row.join("")}</tr>`;
    });
    return `<mj-table>${html.join("")}</mj-table>`;
  },
  text: ({ rows }) => rows.map(({ cells }) => cells.map(({ text }) => text).join(" | ")).join("\n"),
});
