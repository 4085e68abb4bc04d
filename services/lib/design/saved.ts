/** Saved blocks: what they may contain, and where they may stand. */
import { designErrors, savedAt, walk } from "./check.ts";
import type { Source } from "./compile.ts";
import { type Block, type Design, isSaved, isSection, listsIn, MAX_DESIGN_BYTES } from "./design.ts";

const NESTED = "A saved block cannot contain another one.";
const MISSING = "There is no such saved block.";
const NOT_IN_COLUMN = "This saved block has sections, so it cannot be in a column.";
const NOT_A_SECTION = "This saved block has no section, so it must be in a column.";
const IN_COLUMN = "blocks[0].columns[0].";

const hasSections = (blocks: readonly Block[]) => [...walk(blocks)].some(([block]) => isSection(block));

/** Sentences on the blocks of a saved block: either sections, or blocks for a column. */
export function savedBlockErrors(blocks: unknown[]): string[] {
  const isOfSections = blocks.some((block) => (block as Block | null)?.type === "section");
  const columns = [{ blocks }];
  const given = isOfSections ? blocks : [{ type: "section", columns }];
  const errors = designErrors({ version: 1, blocks: given }).map((sentence) => sentence.replace(IN_COLUMN, ""));
  if (errors.length > 0) return errors;
  return savedAt(blocks as Block[]).map(({ path }) => `${path}: ${NESTED}`);
}

/** Sentences on the references of a design. */
export function referenceErrors({ blocks }: Design, { saved }: Source): string[] {
  let bytes = Buffer.byteLength(JSON.stringify(blocks));
  const errors = savedAt(blocks).flatMap(({ id, path }) => {
    const found = saved.get(id);
    if (!found) return [`${path}.id: ${MISSING}`];
    bytes += Buffer.byteLength(JSON.stringify(found));
    const isInColumn = path.includes(".columns[");
    if (isInColumn && hasSections(found)) return [`${path}.id: ${NOT_IN_COLUMN}`];
    return isInColumn || hasSections(found) ? [] : [`${path}.id: ${NOT_A_SECTION}`];
  });
  if (errors.length > 0 || bytes <= MAX_DESIGN_BYTES) return errors;
  return [`With its saved blocks a design has at most ${MAX_DESIGN_BYTES / 1_024} KB.`];
}

/** The blocks with copies of that saved block in place of the references to it. */
export const withCopies = (blocks: readonly Block[], id: string, copy: readonly Block[]): Block[] =>
  blocks.flatMap((block): Block[] => {
    if (isSaved(block)) return block.id.toLowerCase() === id ? [...copy] : [block];
    if (listsIn(block).length === 0) return [block];
    const within = (list: Block[]) => withCopies(list, id, copy);
    if (isSection(block)) {
      return [{ ...block, columns: block.columns.map((column) => ({ ...column, blocks: within(column.blocks) })) }];
    }
    const around = block as { blocks: Block[]; else?: Block[] } & Block;
    return [{ ...around, blocks: within(around.blocks), ...(around.else && { else: within(around.else) }) }];
  });
