/** Roles of people, scopes of API keys, and what an action asks of either; which action asks for what: services/permissions.ts. */
import { forbidden } from "./errors.ts";

/** From the least to the most. */
export const ROLES = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** `full` stands for all of them. */
export const SCOPES = ["full", "send", "campaigns", "subscribers", "settings", "read", "export"] as const;
export type Scope = (typeof SCOPES)[number];

export interface Permission {
  /** The least role that may. */
  role: Role;
  /** Any of these lets an API key in, beside `full`; none: people only. */
  scopes: readonly Exclude<Scope, "full">[];
}

/** What a caller may do: a person by role, an API key by scopes. */
export interface Rights {
  role?: Role | undefined;
  scopes?: readonly Scope[] | undefined;
}

export const isAtLeast = (role: Role | undefined, least: Role): boolean =>
  role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(least);

/** The roles that may, for a reader. */
export const rolesFrom = (least: Role): Role[] => ROLES.slice(ROLES.indexOf(least)).toReversed();

/** Throws a 403 that names the scope or the role that is missing. */
export function requireRights({ role, scopes }: Rights, permission: Permission): void {
  if (scopes) {
    if (permission.scopes.length === 0) throw forbidden("An API key cannot do this: sign in and use a bearer token.");
    if (scopes.includes("full") || permission.scopes.some((scope) => scopes.includes(scope))) return;
    throw forbidden(`This API key lacks the scope "${permission.scopes[0]}".`);
  }
  if (!isAtLeast(role, permission.role)) throw forbidden();
}
