/** Saved blocks as resources of the API. Changing one makes the mails of the templates that refer to it again. */
import { query } from "../../models/database/db.ts";
import { listModels, type Page } from "../../models/database/listing.ts";
import { SavedBlock } from "../../models/saved-block.ts";
import type { Caller } from "../lib/caller.ts";
import type { Block, Design } from "../lib/design/design.ts";
import { savedBlockErrors, withCopies } from "../lib/design/saved.ts";
import { conflict, invalid, notFound } from "../lib/errors.ts";
import type { Static } from "../lib/shapes.ts";
import type { contract, SavedBlock as Shape, UpdatedBlock } from "./contract-designs.ts";
import { contentAfter } from "./template-content.ts";
import { change } from "./templates.ts";
import { updateTemplates } from "./update-designs.ts";

type View = Static<typeof Shape>;
type Filters = Static<(typeof contract)["listSavedBlocks"]["params"]>;

/** Templates named in a conflict. */
const MAX_NAMED = 5;

// Ids are lower case as stored, but not in all documents.
const USES = `
  select id, name from templates where company_id = $1 and design is not null
    and jsonb_path_exists(lower(design::text)::jsonb, '$.** ? (@.type == "saved" && @.id == $id)',
      jsonb_build_object('id', $2::text))
  order by id`;
const usesOf = (companyId: string, id: string) => query<{ id: string; name: string }>(USES, [companyId, id]);

export async function listSavedBlocks(companyId: string, asked: Filters): Promise<Page<View>> {
  const listing = {
    from: "saved_blocks",
    columns: "id, name, created_at, updated_at",
    where: ["company_id = $1"],
    values: [companyId],
    id: "id",
    orderings: { name: "name", updated_at: "updated_at" },
    searchIn: ["name"],
  };
  const { results, ...page } = await listModels(SavedBlock, listing, asked);
  return { ...page, results: results.map((one) => one.view()) };
}

async function find(companyId: string, id: string): Promise<SavedBlock> {
  const found = await SavedBlock.findOne({ where: { id, companyId } });
  if (!found) throw notFound();
  return found;
}

function requireValid(blocks: Record<string, unknown>[]): void {
  const errors = savedBlockErrors(blocks);
  if (errors.length > 0) throw invalid({ blocks: errors });
}

export async function createSavedBlock(
  companyId: string,
  { name, blocks }: Static<(typeof contract)["createSavedBlock"]["params"]>,
): Promise<View> {
  requireValid(blocks);
  return (await SavedBlock.create({ companyId, name: name.trim(), blocks })).view();
}

export const getSavedBlock = async (companyId: string, id: string): Promise<View> => (await find(companyId, id)).view();

export async function updateSavedBlock(
  companyId: string,
  { id, name, blocks }: Static<(typeof contract)["updateSavedBlock"]["params"]>,
  caller: Caller,
): Promise<Static<typeof UpdatedBlock>> {
  const saved = await find(companyId, id);
  if (blocks !== undefined) requireValid(blocks);
  await saved.update({
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(blocks === undefined ? {} : { blocks }),
  });
  const uses = blocks === undefined ? [] : await usesOf(companyId, saved.id);
  const templates = await updateTemplates(
    companyId,
    uses.map((one) => one.id),
    caller,
  );
  return { ...saved.view(), templates };
}

export async function removeSavedBlock(
  companyId: string,
  { id, detach = false }: Static<(typeof contract)["removeSavedBlock"]["params"]>,
  caller: Caller,
): Promise<null> {
  const saved = await find(companyId, id);
  const uses = await usesOf(companyId, saved.id);
  if (uses.length > 0 && !detach) {
    const names = uses.slice(0, MAX_NAMED).map(({ name }) => `"${name}"`);
    const more = uses.length > MAX_NAMED ? ` and ${uses.length - MAX_NAMED} more` : "";
    throw conflict(`Templates use this block: ${names.join(", ")}${more}. With \`detach=true\` they keep a copy.`);
  }
  for (const use of uses) {
    await change(companyId, use.id, caller, (held) => {
      const design = held.design as Design | null;
      const blocks = withCopies(design?.blocks ?? [], saved.id, saved.blocks as Block[]);
      return contentAfter(companyId, held, design ? { design: { ...design, blocks } } : {});
    });
  }
  await saved.destroy();
  return null;
}
