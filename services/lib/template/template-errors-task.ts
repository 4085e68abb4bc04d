/** Runs in a worker thread. */
import "../workers/yielding-thread.ts";
import { compileTemplate } from "./compile.ts";

export const bodyErrors = (body: string): string[] => compileTemplate(body, "body").errors ?? [];
