/**
 * Makes the mails of stored designs and Markdown again, after the brand or a saved block changed: each changed one as a
 * new version.
 */
import { query } from "../../models/database/db.ts";
import { Template } from "../../models/template.ts";
import type { Caller } from "../lib/caller.ts";
import { isServiceError } from "../lib/errors.ts";
import type { Static } from "../lib/shapes.ts";
import type { contract } from "./contract-designs.ts";
import { contentAfter } from "./template-content.ts";
import { change } from "./templates.ts";

export type Updated = Static<(typeof contract)["updateDesigns"]["returns"]>;

const IDS =
  "select id from templates where company_id = $1 and (design is not null or markdown is not null) order by id";

/** True if its mail differs, so that it got a version. Throws 400. */
async function update(companyId: string, template: Template, caller: Caller): Promise<boolean> {
  const { design, markdown, body, designText } = template;
  if (!design && markdown === null) return false;
  const content = await contentAfter(companyId, template, {});
  if (content.body === body && content.designText === designText) return false;
  await change(companyId, template.id, caller, (held) => contentAfter(companyId, held, {}));
  return true;
}

/** A design that cannot be made into mail, such as one with a saved block that is gone, keeps its mail as it is. */
export async function updateTemplates(companyId: string, ids: readonly string[], caller: Caller): Promise<Updated> {
  const result: Updated = { updated: 0, unchanged: 0, failed: [] };
  for (const id of ids) {
    const template = await Template.findOne({ where: { id, companyId } });
    if (!template) continue;
    try {
      if (await update(companyId, template, caller)) result.updated += 1;
      else result.unchanged += 1;
    } catch (error) {
      if (isServiceError(error, "NOT_FOUND")) continue;
      if (!isServiceError(error, "INVALID")) throw error;
      result.failed.push({ id, name: template.name, errors: Object.values(error.data.fields).flat() });
    }
  }
  return result;
}

export async function updateDesigns(companyId: string, caller: Caller): Promise<Updated> {
  const rows = await query<{ id: string }>(IDS, [companyId]);
  return updateTemplates(
    companyId,
    rows.map(({ id }) => id),
    caller,
  );
}
