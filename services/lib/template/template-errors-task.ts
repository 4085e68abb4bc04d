/** Runs in a worker thread. */
import { compileTemplate } from "./compile.ts";

export const bodyErrors = (body: string): string[] => compileTemplate(body, "body").errors ?? [];
