/** Makes the HTML and the text part of a design. Both are stored with it, so that sending needs neither. */
import { readDesignSource } from "../models/statements/read-design-source.ts";
import { designErrors, savedAt, walk } from "./lib/design/check.ts";
import { mjmlOf, textOf } from "./lib/design/compile.ts";
import type { Block, Design } from "./lib/design/design.ts";
import { referenceErrors } from "./lib/design/saved.ts";
import { notFound } from "./lib/errors.ts";
import { htmlOf } from "./lib/made-html/make-html.ts";
import { LARGE_BODY, textErrors } from "./lib/template/template-errors.ts";
import { TaskLimitExceeded, workers } from "./lib/workers/workers.ts";

const FILE = new URL("./lib/design/design-errors-task.ts", import.meta.url).href;

export type Made =
  | { html: string; text: string | null; errors?: undefined }
  | { html?: undefined; text?: undefined; errors: string[] };

async function errorsOf(companyId: string, design: unknown): Promise<string[]> {
  const characters = JSON.stringify(design).length;
  if (characters < LARGE_BODY) return designErrors(design);
  try {
    return await workers().run<string[]>(companyId, { file: FILE, name: "designErrors", input: design, characters });
  } catch (error) {
    if (error instanceof TaskLimitExceeded) return [`Cannot be checked: ${error.message}.`];
    throw error;
  }
}

const pathsOf = ({ blocks }: Design): ReadonlyMap<Block, string> =>
  new Map([...walk(blocks)].map(([block, path]) => [block, path]));

interface Options {
  inlinesCss: boolean;
  /** Marks each block's HTML with its path, for a check; such HTML is never sent. */
  isMarked?: boolean;
}

/** The errors name paths in the tree. Throws 429 or 503 if too much waits for a thread. */
export async function madeDesign(
  companyId: string,
  given: unknown,
  { inlinesCss, isMarked = false }: Options,
): Promise<Made> {
  const faults = await errorsOf(companyId, given);
  if (faults.length > 0) return { errors: faults };
  const design = given as Design;
  const source = await readDesignSource(
    companyId,
    savedAt(design.blocks).map(({ id }) => id),
  );
  if (!source) throw notFound();
  const errors = referenceErrors(design, source);
  if (errors.length > 0) return { errors };
  const body = mjmlOf(design, isMarked ? { ...source, paths: pathsOf(design) } : source);
  const compiled = await htmlOf(companyId, { body, isMjml: true, inlinesCss });
  if (compiled.errors) return compiled;
  const text = textOf(design, source);
  // A block of HTML may have tags within its markup, which the text part has not.
  return { html: compiled.html, text: textErrors(text).length > 0 ? null : text };
}
