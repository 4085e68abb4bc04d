import { align, colour, type Fields, flag, line, link } from "../../fields.ts";

export const fields = {
  text: line("", 200),
  href: link(),
  color: colour("brand.on_primary"),
  background: colour("brand.primary"),
  align: align(),
  /** True for a button as wide as its column. */
  wide: flag(),
} as const satisfies Fields;
