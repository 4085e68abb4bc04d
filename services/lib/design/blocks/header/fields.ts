import { align, type Fields, link, pixels } from "../../fields.ts";

/** The brand's logo, or the company's name where it has none. */
export const fields = {
  href: link(),
  width: pixels(160, 400, 40),
  align: align(),
} as const satisfies Fields;
