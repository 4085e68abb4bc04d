import type { ServiceContract } from "../define.ts";
import { ById, Email, ListQuery, Nothing, Nullable, Page, Text, Type } from "../lib/shapes.ts";
import { Kind, Suppression } from "./contract-shapes.ts";

export const contract = {
  listSuppressions: {
    summary: "List suppressions",
    description: "Search looks into email and domain. Sortable: created_at, email, domain.",
    params: Type.Composite([ListQuery, Type.Object({ kind: Type.Optional(Kind) })]),
    returns: Page(Suppression),
  },
  createSuppression: {
    summary: "Block an address or a domain",
    description:
      "Exactly one of email and domain; a domain covers its subdomains. The same one again returns the existing suppression; one that was made by an unsubscribe becomes manual and then blocks transactional mail too.",
    params: Type.Object({
      email: Type.Optional(Nullable(Email)),
      domain: Type.Optional(Nullable(Type.String({ maxLength: 253 }))),
      reason: Type.Optional(Text(1_000)),
    }),
    returns: Suppression,
    example: { domain: "example.org", reason: "Asked us to stop" },
  },
  getSuppression: { summary: "Get a suppression", params: ById, returns: Suppression },
  removeSuppression: {
    summary: "Delete a suppression",
    description:
      "Sending to the address is possible again: a subscriber who had unsubscribed or bounced becomes active.",
    params: ById,
    returns: Nothing,
  },
} as const satisfies ServiceContract;
