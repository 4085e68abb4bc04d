import { colour, type Fields, line } from "../../fields.ts";

export const fields = {
  text: line("", 2_000),
  /** Who said it; empty: nobody is named. */
  author: line("", 200),
  color: colour("brand.primary"),
} as const satisfies Fields;
