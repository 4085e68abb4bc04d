import { colour, type Fields, pixels } from "../../fields.ts";

export const fields = {
  color: colour("#d5dae0"),
  thickness: pixels(1, 12, 1),
} as const satisfies Fields;
