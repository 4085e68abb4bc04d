import { blockMail } from "../../block.ts";
import { colourOf } from "../../brand.ts";
import { attributes } from "../../markup.ts";
import { fields } from "./fields.ts";

export const mail = blockMail(fields, {
  mjml({ color, thickness }, brand) {
    const look = attributes({ "border-color": colourOf(color, brand), "border-width": `${thickness}px` });
    return `<mj-divider${look} />`;
  },
  text: () => "---",
});
