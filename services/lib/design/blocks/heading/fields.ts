import { align, choice, colour, type Fields, line } from "../../fields.ts";

export const fields = {
  text: line(),
  level: choice("1", "2", "3"),
  align: align(),
  color: colour("brand.text"),
} as const satisfies Fields;
