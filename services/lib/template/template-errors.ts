/** Checks of texts that come with a request: a small one here and now, a large one in a worker thread. */
import { TaskLimitExceeded, workers } from "../workers/workers.ts";
import { compileTemplate } from "./compile.ts";

/**
 * From here on a body is worked on in a thread of its own. Below it compiling holds up the process for 5 ms, for 25 with the
 * worst body; a thread that runs adds 1 ms to its own time, one that has to begin 200.
 */
export const LARGE_BODY = 16_000;

const FILE = new URL("template-errors-task.ts", import.meta.url).href;

/** Of a subject, or of a preheader. */
export const subjectErrors = (subject: string): string[] => compileTemplate(subject, "subject").errors ?? [];

/** The sentences on a text part of its own. No markup is read in it, so it is not worth a thread. */
export const textErrors = (text: string): string[] => compileTemplate(text, "text").errors ?? [];

/** The sentences on a body that cannot be sent; none for one that can. */
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
