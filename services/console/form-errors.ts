/** Shows a form again with what was typed, and each error at its field. */
import { isServiceError } from "../lib/errors.ts";
import type { Answer, Outcome } from "./request.ts";

/** Errors by field name; "" holds the errors that belong to no field. */
export type Errors = Record<string, string[]>;

const REFUSALS = ["INVALID", "BAD_REQUEST", "WRONG_STATE", "CONFLICT"] as const;

/** Returns the validation errors of an action. Throws all other errors. */
export function errorsOf(error: unknown): Errors {
  if (!REFUSALS.some((code) => isServiceError(error, code))) throw error;
  return isServiceError(error, "INVALID") ? error.data.fields : { "": [(error as Error).message] };
}

/** Runs `work`. If it refuses the input, `shown` renders the form again with the errors. */
export async function orAgain(
  work: () => Promise<Outcome | Answer>,
  shown: (errors: Errors) => Promise<Answer>,
): Promise<Outcome | Answer> {
  try {
    return await work();
  } catch (error) {
    const page = await shown(errorsOf(error));
    return "view" in page ? { ...page, status: 400 } : page;
  }
}
