import type { ServiceContract } from "../define.ts";
import { ById, ListQuery, Name, Nothing, Nullable, Page, Time, Type, Uuid } from "../lib/shapes.ts";
import { ApiKey, NewApiKey } from "./contract-shapes.ts";

export const contract = {
  listKeys: {
    summary: "List API keys",
    description: "Search looks into the name. Sortable: created_at, name, expires_at, last_used_at.",
    params: Type.Object({ ...ById.properties, ...ListQuery.properties }),
    returns: Page(ApiKey),
  },
  createKey: {
    summary: "Create an API key",
    description: "Owners and admins only. The key itself is in this answer and nowhere else.",
    params: Type.Object({ ...ById.properties, name: Name, expires_at: Type.Optional(Nullable(Time)) }),
    returns: NewApiKey,
    example: { name: "Website", expires_at: null },
  },
  removeKey: {
    summary: "Delete an API key",
    description: "It is refused everywhere within a second.",
    params: Type.Object({ ...ById.properties, key_id: Uuid }),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
