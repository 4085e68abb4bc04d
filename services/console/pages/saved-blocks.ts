/** Saves a block of the visual editor for other emails, in JSON. */
import type { ParamsOf } from "../../contracts.ts";
import { isServiceError } from "../../lib/errors.ts";
import type { RawResponse } from "../contract.ts";
import { asJson } from "../json-answer.ts";
import { messages } from "../messages.ts";
import { type CompanyVisit, callIn, requireMay } from "../request.ts";

type Blocks = ParamsOf<"renderer.createSavedBlock">["blocks"];

const refused = (sentences: string[]): RawResponse => asJson({ sentences }, 400);

function blocksOf(text = ""): Blocks | undefined {
  try {
    return JSON.parse(text) as Blocks;
  } catch {
    return undefined;
  }
}

const changedAt = async (visit: CompanyVisit, id: string): Promise<string> =>
  (await callIn(visit, "renderer.getTemplate", { id })).updated_at;

/**
 * New blocks of a saved block also change the template that is open, which then is no change by somebody else. Undefined
 * if the saved block is gone.
 */
async function replaced(visit: CompanyVisit, id: string, blocks: Blocks) {
  const { template, seen, name = "" } = visit.form;
  const isSeen = template !== undefined && (await changedAt(visit, template)) === seen;
  try {
    await callIn(visit, "renderer.updateSavedBlock", { id, name, blocks });
  } catch (error) {
    if (isServiceError(error, "NOT_FOUND")) return undefined;
    throw error;
  }
  return { id, name, ...(isSeen ? { seen: await changedAt(visit, template) } : {}) };
}

export async function saveBlock(visit: CompanyVisit): Promise<RawResponse> {
  requireMay(visit, "renderer.createSavedBlock");
  const { id, name = "" } = visit.form;
  const blocks = blocksOf(visit.form.blocks);
  if (!blocks) return refused([messages.visual.problems.away]);
  try {
    const changed = id && (await replaced(visit, id, blocks));
    if (changed) return asJson(changed);
    return asJson({ id: (await callIn(visit, "renderer.createSavedBlock", { name, blocks })).id, name });
  } catch (error) {
    if (!isServiceError(error, "INVALID")) throw error;
    // The path of a fault says nothing to people who see one block.
    return refused(
      Object.values(error.data.fields).flatMap((all) => all.map((one) => one.replace(/^blocks\S*: /, ""))),
    );
  }
}
