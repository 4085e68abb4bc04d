import type { ServiceContract } from "../define.ts";
import { ById, Email, ListQuery, Nothing, Page, Type, Uuid } from "../lib/shapes.ts";
import { Member, RoleName } from "./contract-shapes.ts";

const ByUser = { ...ById.properties, user_id: Uuid };

export const contract = {
  listMembers: {
    summary: "List the members of a company",
    description: "Search looks into email and names. Sortable: created_at, email, role, joined_at.",
    params: Type.Object({ ...ById.properties, ...ListQuery.properties }),
    returns: Page(Member),
  },
  addMember: {
    summary: "Add an existing user to a company",
    description: "Owners and admins; only an owner makes another owner.",
    params: Type.Object({ ...ById.properties, email: Email, role: RoleName }),
    returns: Member,
    example: { email: "grace@example.com", role: "admin" },
  },
  updateMember: {
    summary: "Change a member's role",
    description: "The last owner stays one.",
    params: Type.Object({ ...ByUser, role: RoleName }),
    returns: Member,
    example: { role: "member" },
  },
  removeMember: {
    summary: "Remove a member",
    description: "Everybody may leave; the last owner stays.",
    params: Type.Object(ByUser),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
