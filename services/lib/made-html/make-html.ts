/**
 * Makes the HTML to send from a body: compiles MJML, renders Markdown, or inlines CSS. Runs once in a worker thread when
 * the body is saved or sent; the result is stored, so that it costs nothing per email.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { TaskLimitExceeded, workers } from "../workers/workers.ts";
import type { MadeHtml } from "./mjml.ts";

export interface Recipe {
  body: string;
  /** Takes its place in the body (markdown.ts). */
  markdown?: string;
  isMjml: boolean;
  inlinesCss: boolean;
}

const FILE = new URL("make-html-task.ts", import.meta.url).href;

const CACHED_CHARACTERS = 8_000_000;

/** Cached because both the check and the execution of a request need it. */
const madeHtml = new LRUCache<string, MadeHtml>({
  maxSize: CACHED_CHARACTERS,
  sizeCalculation: ({ html, errors }) => 500 + (html ?? errors.join("")).length,
});

const keyOf = ({ body, markdown, isMjml, inlinesCss }: Recipe) =>
  createHash("sha256")
    .update(`${isMjml} ${inlinesCss} ${markdown === undefined ? "" : body.length} `)
    .update(body)
    .update(markdown ?? "")
    .digest("base64");

/** True if anything has to be made; most bodies need nothing. */
export const isMade = ({ isMjml, inlinesCss }: Omit<Recipe, "body">): boolean => isMjml || inlinesCss;

/** Throws 429 or 503 if too much waits for a thread. */
export async function htmlOf(companyId: string, recipe: Recipe): Promise<MadeHtml> {
  const key = keyOf(recipe);
  const known = madeHtml.get(key);
  if (known) return known;
  try {
    const characters = recipe.body.length + (recipe.markdown?.length ?? 0);
    const result = await workers().run<MadeHtml>(companyId, {
      file: FILE,
      name: "makeHtml",
      input: recipe,
      characters,
    });
    madeHtml.set(key, result);
    return result;
  } catch (error) {
    if (error instanceof TaskLimitExceeded) return { errors: [`Too much work: ${error.message}.`] };
    throw error;
  }
}
