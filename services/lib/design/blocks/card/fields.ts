import { type Fields, image, line, link } from "../../fields.ts";

/** A product: picture, title, text, price and button. */
export const fields = {
  src: image(),
  alt: line("", 300),
  title: line("", 200),
  text: line("", 1_000),
  price: line("", 100),
  button: line("", 100),
  href: link(),
} as const satisfies Fields;
