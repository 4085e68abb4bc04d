/**
 * Who belongs to a company, and in which role. Every change locks the company's row first: two owners who demote each other
 * at the same moment would otherwise both find another owner left.
 */
import { Op, type Transaction } from "sequelize";
import { Company } from "../../models/company.ts";
import { sequelize } from "../../models/database/db.ts";
import { listPage } from "../../models/database/listing.ts";
import { Membership } from "../../models/membership.ts";
import { User } from "../../models/user.ts";
import type { ParamsOf } from "../contracts.ts";
import type { Validate } from "../define.ts";
import type { Ctx, Role } from "../lib/caller.ts";
import { badRequest, type FieldErrors, forbidden, invalid, notFound, unauthenticated } from "../lib/errors.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { passwordMarkOf, TOKEN_REFUSED } from "../lib/tokens/bearer.ts";
import type { Member } from "./contract-account-shapes.ts";
import type { contract } from "./contract-company.ts";
import { userByEmail } from "./login.ts";
import { ownCompany, requireAdmin } from "./permission.ts";

const LAST_OWNER = "A company must keep at least one owner.";
const NO_USER: FieldErrors = { email: ["No user has this email address."] };

export async function listMembers(ctx: Ctx<ListQuery & { id: string }>) {
  const { count, results } = await listPage<Omit<Member, "joined_at"> & { joined_at: Date }>(
    {
      from: "memberships m join users u on u.id = m.user_id",
      columns: "u.id as user_id, u.email, u.first_name, u.last_name, m.role, m.created_at as joined_at",
      where: ["m.company_id = $1"],
      values: [ownCompany(ctx)],
      id: "u.id",
      orderings: { email: "u.email", role: "m.role", joined_at: "m.created_at" },
      searchIn: ["u.email", "u.first_name", "u.last_name"],
      defaultOrdering: "-joined_at",
    },
    ctx.params,
  );
  return { count, results: results.map((member) => ({ ...member, joined_at: member.joined_at.toISOString() })) };
}

async function memberOf(companyId: string, userId: string, transaction: Transaction | null = null) {
  const membership = await Membership.findOne({ where: { companyId, userId }, include: "user", transaction });
  if (!membership) throw notFound();
  return membership;
}

export async function membershipOf(asked: ParamsOf<"accounts.membershipOf">): Promise<{ role: Role }> {
  const { companyId, userId, passwordMark } = asked;
  const [user, membership] = await Promise.all([
    User.findByPk(userId, { attributes: ["id", "passwordHash"] }),
    Membership.findOne({ where: { companyId, userId } }),
  ]);
  if (user && passwordMarkOf(user.passwordHash) !== passwordMark) throw unauthenticated(TOKEN_REFUSED);
  if (!user || !membership) throw notFound();
  return { role: membership.role };
}

export const newMemberErrors: Validate<(typeof contract)["addMember"]> = async (ctx, isValid) => {
  const companyId = ownCompany(ctx);
  requireAdmin(ctx);
  if (!isValid("email")) return {};
  const user = await userByEmail(ctx.params.email);
  if (!user) return NO_USER;
  const membership = await Membership.findOne({ where: { companyId, userId: user.id } });
  return membership ? { email: ["This user is a member already."] } : {};
};

export async function addMember(ctx: Ctx<ParamsOf<"accounts.addMember">>): Promise<Member> {
  const companyId = ownCompany(ctx);
  const { email, role } = ctx.params;
  if (role === "owner" && ctx.meta.role !== "owner") throw forbidden();
  const user = await userByEmail(email);
  if (!user) throw invalid(NO_USER);
  // The same request twice at one moment is one member, with the role that was there first.
  await Membership.bulkCreate([{ companyId, userId: user.id, role }], { ignoreDuplicates: true });
  return (await memberOf(companyId, user.id)).view(user);
}

async function lockCompany(companyId: string, transaction: Transaction): Promise<void> {
  await Company.findByPk(companyId, { attributes: ["id"], transaction, lock: transaction.LOCK.NO_KEY_UPDATE });
}

async function requireAnotherOwner(companyId: string, userId: string, transaction: Transaction): Promise<void> {
  const where = { companyId, userId: { [Op.ne]: userId }, role: "owner" as const };
  if (!(await Membership.findOne({ where, transaction }))) throw badRequest(LAST_OWNER);
}

export function updateMember(ctx: Ctx<ParamsOf<"accounts.updateMember">>): Promise<Member> {
  const companyId = ownCompany(ctx);
  requireAdmin(ctx);
  const { user_id: userId, role } = ctx.params;
  return sequelize().transaction(async (transaction) => {
    await lockCompany(companyId, transaction);
    const membership = await memberOf(companyId, userId, transaction);
    const touchesOwners = membership.role === "owner" || role === "owner";
    if (touchesOwners && ctx.meta.role !== "owner") throw forbidden();
    if (membership.role === "owner" && role !== "owner") await requireAnotherOwner(companyId, userId, transaction);
    await membership.update({ role }, { transaction });
    return membership.view(membership.user!);
  });
}

export function removeMember(ctx: Ctx<ParamsOf<"accounts.removeMember">>): Promise<null> {
  const companyId = ownCompany(ctx);
  const { user_id: userId } = ctx.params;
  const leaves = !ctx.meta.apiKeyId && userId.toLowerCase() === ctx.meta.userId;
  if (!leaves) requireAdmin(ctx);
  return sequelize().transaction(async (transaction) => {
    await lockCompany(companyId, transaction);
    const membership = await memberOf(companyId, userId, transaction);
    if (membership.role === "owner") {
      if (ctx.meta.role !== "owner") throw forbidden();
      await requireAnotherOwner(companyId, userId, transaction);
    }
    await membership.destroy({ transaction });
    return null;
  });
}
