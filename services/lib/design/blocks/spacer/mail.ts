import { blockMail } from "../../block.ts";
import { fields } from "./fields.ts";

export const mail = blockMail(fields, {
  mjml: ({ height }) => `<mj-spacer height="${height}px" />`,
  text: () => "",
});
