/**
 * Defines roles of people, scopes of API keys, and how actions require them; services/permissions.ts lists which action
 * requires what.
 */
import { forbidden } from "./errors.ts";

/** Roles from the weakest to the strongest. */
export const ROLES = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** `full` includes all scopes. */
export const SCOPES = ["full", "send", "campaigns", "subscribers", "settings", "read", "export"] as const;
export type Scope = (typeof SCOPES)[number];

export interface Permission {
  /** Minimum role. */
  role: Role;
  /** Scopes, besides `full`, that permit an API key; none: people only. */
  scopes: readonly Exclude<Scope, "full">[];
}

/** Rights of a caller: role of a person, scopes of an API key. */
export interface Rights {
  role?: Role | undefined;
  scopes?: readonly Scope[] | undefined;
}

export const isAtLeast = (role: Role | undefined, least: Role): boolean =>
  role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(least);

/** Permitted roles, for display. */
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
