/** Permissions within a company. A key acts for the company, so the settings are open to it. */
import { type Caller, companyOf, type Role } from "../lib/caller.ts";
import { forbidden, notFound } from "../lib/errors.ts";

/** The company of the path, when it is the caller's; any other does not exist for her. */
export function ownCompany(ctx: { meta: Caller; params: { id: string } }): string {
  const companyId = companyOf(ctx);
  if (ctx.params.id.toLowerCase() !== companyId) throw notFound();
  return companyId;
}

const mayAdminister = (role: Role | undefined) => role === "owner" || role === "admin";

/** Settings: owners and admins, and API keys. */
export function requireSettingsRight({ meta }: { meta: Caller }): void {
  if (!meta.apiKeyId && !mayAdminister(meta.role)) throw forbidden();
}

/** Keys and members: owners and admins in person. */
export function requireAdmin({ meta }: { meta: Caller }): void {
  if (meta.apiKeyId || !mayAdminister(meta.role)) throw forbidden();
}
