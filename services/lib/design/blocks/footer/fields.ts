import { align, colour, type Fields, line } from "../../fields.ts";

/** The company's name and footer text with the two links that each mail to a list needs. */
export const fields = {
  /** Why the reader gets this mail. */
  text: line("", 500),
  unsubscribe: line("Unsubscribe", 100),
  preferences: line("Email preferences", 100),
  color: colour("#595959"),
  align: align(),
} as const satisfies Fields;
