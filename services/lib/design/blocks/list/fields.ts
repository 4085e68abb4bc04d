import { choice, type Fields, items, line } from "../../fields.ts";

export const fields = {
  entries: items({ text: line() }, 50),
  kind: choice("bullets", "numbers", "checks"),
} as const satisfies Fields;
