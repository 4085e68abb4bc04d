/** Checks texts of a request: small ones in this thread, large ones in a worker thread. */
import { TaskLimitExceeded, workers } from "../workers/workers.ts";
import { compileTemplate } from "./compile.ts";

/**
 * Minimum characters of a body that is processed in a worker thread. Compiling a smaller one blocks the process only
 * briefly, which is cheaper than starting a thread.
 */
export const LARGE_BODY = 16_000;

const FILE = new URL("template-errors-task.ts", import.meta.url).href;

/** Errors of a subject or a preheader. */
export const subjectErrors = (subject: string): string[] => compileTemplate(subject, "subject").errors ?? [];

/** Errors of a separate text part. No markup is parsed, so it is not worth a thread. */
export const textErrors = (text: string): string[] => compileTemplate(text, "text").errors ?? [];

/** Errors of a body; empty if it can be sent. */
export async function bodyErrors(companyId: string, body: string): Promise<string[]> {
  if (body.length < LARGE_BODY) return compileTemplate(body, "body").errors ?? [];
  try {
    return await workers().run<string[]>(companyId, {
      file: FILE,
      name: "bodyErrors",
      input: body,
      characters: body.length,
    });
  } catch (error) {
    if (error instanceof TaskLimitExceeded) return [`Cannot be checked: ${error.message}.`];
    throw error;
  }
}
