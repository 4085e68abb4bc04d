import { align, type Fields, image, line, link, pixels } from "../../fields.ts";

export const fields = {
  src: image(),
  /** Description of the picture; empty for decoration. */
  alt: line("", 300),
  href: link(),
  /** 0: as wide as the column. */
  width: pixels(0, 800),
  radius: pixels(0, 60),
  align: align(),
} as const satisfies Fields;
