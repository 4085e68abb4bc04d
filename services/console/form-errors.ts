/** Errors of what a person typed: the page again, with the sentences at their fields and all that was typed. */
import { isServiceError } from "../lib/errors.ts";
import type { Answer, Outcome } from "./request.ts";

/** By field, "" for those of no field of the form. */
export type Errors = Record<string, string[]>;

const REFUSALS = ["INVALID", "BAD_REQUEST", "WRONG_STATE", "CONFLICT"] as const;

/** Throws what is no refusal of what was typed. */
export function errorsOf(error: unknown): Errors {
  if (!REFUSALS.some((code) => isServiceError(error, code))) throw error;
  return isServiceError(error, "INVALID") ? error.data.fields : { "": [(error as Error).message] };
}

/** `shown` shows the form again where `work` refuses what it holds. */
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
