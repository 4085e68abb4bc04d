import { colour, type Fields, line } from "../../fields.ts";

export const fields = {
  text: line("", 2_000),
  /** Author of the quote; empty for none. */
  author: line("", 200),
  color: colour("brand.primary"),
} as const satisfies Fields;
