import type { ServiceContract } from "../define.ts";
import { Type, Uuid } from "../lib/shapes.ts";

/** What one statement takes without holding its locks for long; more come in several requests. */
export const MAX_IDS = 10_000;

const subscriber_ids = Type.Array(Uuid, { minItems: 1, maxItems: MAX_IDS });
const listIds = Type.Optional(Type.Array(Uuid, { maxItems: 100 }));

export const contract = {
  import: {
    summary: "Import subscribers from a CSV file",
    description:
      "UTF-8, with a header row: email, first_name, last_name in any order, separated by comma, semicolon or tab; any other column becomes an attribute, but for status and created_at, which an export has and an import ignores. Existing subscribers are updated with what is not blank. Rows that cannot be used are skipped and told (row is the line, the header is line 1; the first 100). Of an address that comes twice the last row counts: once as created, then as updated. list_id adds all of them to a list. Over the plan's subscriber limit nothing is imported.",
    params: Type.Object({
      filename: Type.Optional(Type.String()),
      content_type: Type.Optional(Type.String()),
      size: Type.Optional(Type.Integer()),
      list_id: Type.Optional(Uuid),
    }),
    returns: Type.Object({
      total: Type.Integer(),
      created: Type.Integer(),
      updated: Type.Integer(),
      skipped: Type.Integer(),
      errors: Type.Array(Type.Object({ row: Type.Integer(), email: Type.String(), error: Type.String() })),
      errors_count: Type.Integer(),
    }),
  },
  bulkDelete: {
    summary: "Delete subscribers",
    description: "All or none: an id that does not exist is an error, and nothing is deleted.",
    params: Type.Object({ subscriber_ids }),
    returns: Type.Object({ deleted: Type.Integer() }),
    example: { subscriber_ids: ["0195f7a0-0000-7000-8000-000000000001"] },
  },
  bulkUpdateLists: {
    summary: "Add subscribers to lists and remove them from lists",
    description:
      "All or nothing. `added` and `removed` count memberships that changed, `updated` the subscribers that they belong to.",
    params: Type.Object({ subscriber_ids, add_to_lists: listIds, remove_from_lists: listIds }),
    returns: Type.Object({ updated: Type.Integer(), added: Type.Integer(), removed: Type.Integer() }),
    example: {
      subscriber_ids: ["0195f7a0-0000-7000-8000-000000000001"],
      add_to_lists: ["0195f7a0-0000-7000-8000-0000000000aa"],
    },
  },
} as const satisfies ServiceContract;
