/** Members of a company and their roles. */
import { Op, type Transaction } from "sequelize";
import { sequelize } from "../../models/database/db.ts";
import { listPage } from "../../models/database/listing.ts";
import { Membership } from "../../models/membership.ts";
import { audit } from "../../models/statements/audit-log.ts";
import { broadcast } from "../call.ts";
import type { ParamsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { badRequest, forbidden, notFound } from "../lib/errors.ts";
import { isAtLeast } from "../lib/rights.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { removeKeysOf } from "./api-keys.ts";
import type { Member } from "./contract-account-shapes.ts";
import { voidInvitationsBy, withdrawInvitation } from "./invitations.ts";
import { ownCompany, requireCurrentRights } from "./permission.ts";

const LAST_OWNER = "A company must keep at least one owner.";

/** Lists members and invited people. An invited person may have an account; the list must not reveal it. */
const MEMBERS = `(
  select m.company_id, u.id, u.id as user_id, u.email, u.first_name, u.last_name, m.role, 'active' as status,
    m.created_at as joined_at, null::timestamptz as expires_at, m.created_at as since
  from memberships m join users u on u.id = m.user_id
  union all
  select company_id, id, null, email, '', '', role, 'invited', null, expires_at, created_at
  from invitations where accepted_at is null and withdrawn_at is null and expires_at > now()
) m`;

type MemberRow = Omit<Member, "joined_at" | "expires_at"> & { joined_at: Date | null; expires_at: Date | null };

export async function listMembers(ctx: Ctx<ListQuery & { id: string }>) {
  const { results, ...page } = await listPage<MemberRow>(
    {
      from: MEMBERS,
      columns: "m.id, m.user_id, m.email, m.first_name, m.last_name, m.role, m.status, m.joined_at, m.expires_at",
      where: ["m.company_id = $1"],
      values: [ownCompany(ctx)],
      id: "m.id",
      orderings: { email: "m.email", role: "m.role", joined_at: "m.since" },
      searchIn: ["m.email", "m.first_name", "m.last_name"],
      defaultOrdering: "-joined_at",
    },
    ctx.params,
  );
  const view = (row: MemberRow): Member => ({
    ...row,
    joined_at: row.joined_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
  });
  return { ...page, results: results.map(view) };
}

async function memberOf(companyId: string, userId: string, transaction: Transaction | null = null) {
  const membership = await Membership.findOne({ where: { companyId, userId }, include: "user", transaction });
  if (!membership) throw notFound();
  return membership;
}

async function requireAnotherOwner(companyId: string, userId: string, transaction: Transaction): Promise<void> {
  const where = { companyId, userId: { [Op.ne]: userId }, role: "owner" as const };
  if (!(await Membership.findOne({ where, transaction }))) throw badRequest(LAST_OWNER);
}

export async function updateMember(ctx: Ctx<ParamsOf<"accounts.updateMember">>): Promise<Member> {
  const companyId = ownCompany(ctx);
  const { user_id: userId, role } = ctx.params;
  const updated = await sequelize().transaction(async (transaction) => {
    const caller = await requireCurrentRights(ctx.meta, "accounts.updateMember", transaction);
    const membership = await memberOf(companyId, userId, transaction);
    const touchesOwners = membership.role === "owner" || role === "owner";
    if (touchesOwners && caller.role !== "owner") throw forbidden();
    if (membership.role === "owner" && role !== "owner") await requireAnotherOwner(companyId, userId, transaction);
    const from = membership.role;
    await membership.update({ role }, { transaction });
    await voidInvitationsBy(companyId, userId, role, transaction);
    const detail = { email: membership.user!.email, from, to: role };
    await audit(companyId, ctx.meta, { action: "member.role_changed", target: userId, detail }, transaction);
    return membership.view(membership.user!);
  });
  await broadcast(ctx, "member.changed", { userId: updated.id });
  return updated;
}

export async function removeMember(ctx: Ctx<ParamsOf<"accounts.removeMember">>): Promise<null> {
  const companyId = ownCompany(ctx);
  const userId = ctx.params.user_id.toLowerCase();
  const keys = await sequelize().transaction(async (transaction) => {
    const caller = await requireCurrentRights(ctx.meta, "accounts.removeMember", transaction);
    if (userId !== ctx.meta.userId && !isAtLeast(caller.role, "admin")) throw forbidden();
    if (await withdrawInvitation(companyId, userId, transaction)) {
      const detail = { status: "invited" };
      await audit(companyId, ctx.meta, { action: "member.removed", target: userId, detail }, transaction);
      return [];
    }
    const membership = await memberOf(companyId, userId, transaction);
    if (membership.role === "owner") {
      if (caller.role !== "owner") throw forbidden();
      await requireAnotherOwner(companyId, userId, transaction);
    }
    await membership.destroy({ transaction });
    const detail = { email: membership.user!.email, role: membership.role };
    await audit(companyId, ctx.meta, { action: "member.removed", target: userId, detail }, transaction);
    await voidInvitationsBy(companyId, userId, undefined, transaction);
    return ctx.params.keep_keys ? [] : removeKeysOf(ctx.meta, companyId, userId, transaction);
  });
  await broadcast(ctx, "member.changed", { userId });
  for (const apiKeyId of keys) await broadcast(ctx, "apiKey.deleted", { apiKeyId });
  return null;
}
