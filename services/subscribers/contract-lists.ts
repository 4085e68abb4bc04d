import type { ServiceContract } from "../define.ts";
import { ById, ListQuery, Name, Nothing, Page, Type, Uuid } from "../lib/shapes.ts";
import { Description, List, Status, Subscriber } from "./contract-shapes.ts";

/** One line: it stands in the List-Id of mails to the list. */
const ListName = Type.String({ ...Name, format: "line" });

export const contract = {
  listLists: {
    summary: "List subscriber lists",
    description: "Search looks into name and description. Sortable: created_at, name.",
    params: ListQuery,
    returns: Page(List),
  },
  createList: {
    summary: "Create a subscriber list",
    params: Type.Object({ name: ListName, description: Type.Optional(Description) }),
    returns: List,
    example: { name: "Newsletter", description: "Everyone who asked for it" },
  },
  getList: { summary: "Get a subscriber list", params: ById, returns: List },
  updateList: {
    summary: "Update a subscriber list",
    params: Type.Object({ id: Uuid, name: Type.Optional(ListName), description: Type.Optional(Description) }),
    returns: List,
    example: { name: "Monthly newsletter" },
  },
  removeList: {
    summary: "Delete a subscriber list",
    description: "Its subscribers stay.",
    params: ById,
    returns: Nothing,
  },
  listMembers: {
    summary: "List the subscribers of a list",
    description: "Search looks into email and names. Sortable: created_at, email, first_name, last_name.",
    params: Type.Composite([ListQuery, Type.Object({ id: Uuid, status: Type.Optional(Status) })]),
    returns: Page(Subscriber),
  },
} as const satisfies ServiceContract;
