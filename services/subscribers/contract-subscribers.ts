import type { ServiceContract } from "../define.ts";
import { ById, Email, ListQuery, Nothing, Page, Stream, Type, Uuid } from "../lib/shapes.ts";
import { AttributeChanges, Attributes, PersonName, Status, Subscriber } from "./contract-shapes.ts";

const lists = Type.Optional(Type.Array(Uuid, { maxItems: 100, description: "Lists that the subscriber is added to." }));

export const contract = {
  list: {
    summary: "List subscribers",
    description: "Search looks into email and names. Sortable: created_at, email, first_name, last_name.",
    params: Type.Composite([ListQuery, Type.Object({ status: Type.Optional(Status), list: Type.Optional(Uuid) })]),
    returns: Page(Subscriber),
  },
  create: {
    summary: "Create a subscriber",
    description:
      "An address that exists already (without regard to case) is fine: the existing subscriber is returned; names that are given and not blank are set, attributes merged, lists added. Its status stays.",
    params: Type.Object({
      email: Email,
      first_name: Type.Optional(PersonName),
      last_name: Type.Optional(PersonName),
      attributes: Type.Optional(Attributes),
      lists,
    }),
    returns: Subscriber,
    example: { email: "ada@example.com", first_name: "Ada", last_name: "Lovelace", attributes: { city: "London" } },
  },
  get: { summary: "Get a subscriber", params: ById, returns: Subscriber },
  update: {
    summary: "Update a subscriber",
    description: "Attributes are merged, and one that is null goes; lists are added. Email and status are read-only.",
    params: Type.Object({
      id: Uuid,
      first_name: Type.Optional(PersonName),
      last_name: Type.Optional(PersonName),
      attributes: Type.Optional(AttributeChanges),
      lists,
    }),
    returns: Subscriber,
    example: { first_name: "Augusta Ada", attributes: { city: "Marylebone" } },
  },
  remove: {
    summary: "Delete a subscriber",
    description: "Permanent. Mails that were sent stay, without their link to the subscriber.",
    params: ById,
    returns: Nothing,
  },
  export: {
    summary: "Download all subscribers as CSV",
    description:
      "Columns: email, first_name, last_name, status, created_at, then every attribute in use. Cells that a spreadsheet would run as a formula begin with an apostrophe.",
    params: Type.Object({}),
    returns: Stream,
  },
} as const satisfies ServiceContract;
