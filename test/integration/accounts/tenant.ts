/** Registered company for broker calls without the gateway. */
import { randomUUID } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import { Company } from "../../../models/company.ts";
import { Membership } from "../../../models/membership.ts";
import { User } from "../../../models/user.ts";
import { call } from "../../../services/call.ts";
import type { Caller, Role } from "../../../services/lib/caller.ts";

export const PASSWORD = "correct horse battery";

export async function register(broker: ServiceBroker, email = `${randomUUID()}@example.com`) {
  const { user, company, access, refresh } = await call(broker, "accounts.register", {
    email,
    password: PASSWORD,
    company_name: "Analytical Engines",
  });
  const meta: Caller = { companyId: company.id, userId: user.id, role: "owner" };
  return { email, user, company, access, refresh, meta, id: company.id };
}

export type Tenant = Awaited<ReturnType<typeof register>>;

/** Registers without a password, which saves hashing; nobody can log in. */
export async function seed(name = "Analytical Engines"): Promise<Pick<Tenant, "email" | "user" | "meta" | "id">> {
  const email = `${randomUUID()}@example.com`;
  const user = await User.create({ email, passwordHash: "" });
  const { id } = await Company.create({ name, plan: "unlimited" });
  await Membership.create({ companyId: id, userId: user.id, role: "owner" });
  return { email, user: user.view(), meta: { companyId: id, userId: user.id, role: "owner" }, id };
}

/** Adds another person to the company. */
export async function join(tenant: Pick<Tenant, "id">, role: Role) {
  const { user, email } = await seed();
  await Membership.create({ companyId: tenant.id, userId: user.id, role });
  return { user, email, meta: { companyId: tenant.id, userId: user.id, role } satisfies Caller };
}

export const NOT_FOUND = [404, { detail: "Not found." }];
export const FORBIDDEN = [403, { detail: "You do not have permission to perform this action." }];
