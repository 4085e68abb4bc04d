/** Saved blocks that designs of a company share, and the action that makes all mails again. */
import type { ServiceContract } from "../define.ts";
import { MAX_BLOCKS } from "../lib/design/design.ts";
import { BlockTree } from "../lib/design/shape.ts";
import {
  Bool,
  ById,
  CreatedAt,
  Described,
  Id,
  ListQuery,
  Name,
  Nothing,
  Page,
  Type,
  UpdatedAt,
} from "../lib/shapes.ts";

export const Updated = Type.Object({
  updated: Type.Integer({ description: "Templates whose mail changed; each has a new version.", examples: [12] }),
  unchanged: Type.Integer({ description: "Templates whose mail is the same.", examples: [3] }),
  failed: Type.Array(
    Type.Object({
      id: Id,
      name: Described(Type.String(), "Name.", "June newsletter"),
      errors: Described(Type.Array(Type.String()), "Reasons.", ["blocks[0].id: There is no such saved block."]),
    }),
    { description: "Templates whose mail could not be made; they keep the one they have." },
  ),
});

const exampleBlocks = [{ type: "button", text: "Shop", href: "https://lantern.example/books" }];
const Blocks = Type.Array(BlockTree, {
  minItems: 1,
  maxItems: MAX_BLOCKS,
  description: "Sections, or blocks for a column; no other saved blocks.",
  examples: [exampleBlocks],
});

export const SavedBlock = Type.Object({
  id: Id,
  name: Described(Type.String(), "Name.", "Shop button"),
  blocks: Type.Optional(Described(Blocks, "Sections, or blocks for a column. Not in lists.")),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
});
export const UpdatedBlock = Type.Composite([
  SavedBlock,
  Type.Object({ templates: Described(Updated, "Templates that refer to it, after the change.") }),
]);

const example = { name: "Shop button", blocks: exampleBlocks };

export const contract = {
  updateDesigns: {
    summary: "Update the designs of templates",
    description:
      "Extension. Makes the mails of all templates with a design or Markdown again, with the company's present branding and saved blocks. Campaigns that exist keep theirs.",
    params: Type.Object({}),
    returns: Updated,
  },
  listSavedBlocks: {
    summary: "List saved blocks",
    description: "Extension. Searches the name. Sortable: created_at, name, updated_at.",
    params: ListQuery,
    returns: Page(SavedBlock),
  },
  createSavedBlock: {
    summary: "Save blocks for several designs",
    description: 'Extension. Designs refer to it as `{"type": "saved", "id": …}`.',
    params: Type.Object({ name: Described(Name, "Name.", "Shop button"), blocks: Blocks }),
    returns: SavedBlock,
    example,
  },
  getSavedBlock: { summary: "Get a saved block", params: ById, returns: SavedBlock },
  updateSavedBlock: {
    summary: "Change a saved block",
    description: "Extension. New `blocks` also change the templates that refer to it, each as a new version.",
    params: Type.Object({
      ...ById.properties,
      name: Type.Optional(Described(Name, "Name.", "Shop button")),
      blocks: Type.Optional(Blocks),
    }),
    returns: UpdatedBlock,
    example: { name: "Button to the shop" },
  },
  removeSavedBlock: {
    summary: "Delete a saved block",
    description: "Extension. 409 if templates refer to it, unless `detach` is true.",
    params: Type.Object({
      ...ById.properties,
      detach: Type.Optional(Described(Bool, "Copies its blocks into the templates that refer to it.")),
    }),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
