import { align, colour, type Fields, pixels, rich } from "../../fields.ts";

export const fields = {
  content: rich(),
  size: pixels(16, 32, 12),
  align: align(),
  color: colour(),
} as const satisfies Fields;
