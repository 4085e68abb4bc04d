/**
 * Who belongs to a company, and as what. Every change locks the company's row first: two owners who demote each other at
 * the same moment would otherwise both find another owner left.
 */
import { type Client, queryOne, transaction } from "../../models/database/db.ts";
import { listPage } from "../../models/database/listing.ts";
import type { ParamsOf } from "../contracts.ts";
import type { Validate } from "../define.ts";
import type { Ctx, Role } from "../lib/caller.ts";
import { badRequest, type FieldErrors, forbidden, invalid, notFound, unauthenticated } from "../lib/errors.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { passwordMarkOf, TOKEN_REFUSED } from "../lib/tokens/bearer.ts";
import type { contract } from "./contract-members.ts";
import type { Member } from "./contract-shapes.ts";
import { isoTime } from "./iso-time.ts";
import { ownCompany, requireAdmin } from "./permission.ts";

const FROM = "memberships m join users u on u.id = m.user_id";
const COLUMNS = `u.id as user_id, u.email, u.first_name, u.last_name, m.role,
  ${isoTime("m.created_at")} as joined_at`;
const LAST_OWNER = "A company must keep at least one owner.";
const NO_USER: FieldErrors = { email: ["No user has this email address."] };

export function listMembers(ctx: Ctx<ListQuery & { id: string }>) {
  return listPage<Member>(
    {
      from: FROM,
      columns: COLUMNS,
      where: ["m.company_id = $1"],
      values: [ownCompany(ctx)],
      id: "u.id",
      orderings: { email: "u.email", role: "m.role", joined_at: "m.created_at" },
      searchIn: ["u.email", "u.first_name", "u.last_name"],
      defaultOrdering: "-joined_at",
    },
    ctx.params,
  );
}

async function memberOf(companyId: string, userId: string, on?: Client): Promise<Member> {
  const member = await queryOne<Member>(
    `select ${COLUMNS} from ${FROM} where m.company_id = $1 and m.user_id = $2`,
    [companyId, userId],
    on,
  );
  if (!member) throw notFound();
  return member;
}

export async function membershipOf(asked: ParamsOf<"accounts.membershipOf">): Promise<{ role: Role }> {
  const user = await queryOne<{ password_hash: string; role: Role | null }>(
    `select u.password_hash, m.role from users u
     left join memberships m on m.company_id = $1 and m.user_id = u.id where u.id = $2`,
    [asked.companyId, asked.userId],
  );
  if (user && passwordMarkOf(user.password_hash) !== asked.passwordMark) throw unauthenticated(TOKEN_REFUSED);
  if (!user?.role) throw notFound();
  return { role: user.role };
}

const userByEmail = (email: string) =>
  queryOne<{ id: string }>("select id from users where email_key = lower($1)", [email.trim()]);

export const newMemberErrors: Validate<(typeof contract)["addMember"]> = async (ctx, isValid) => {
  const companyId = ownCompany(ctx);
  requireAdmin(ctx);
  if (!isValid("email")) return {};
  const user = await userByEmail(ctx.params.email);
  if (!user) return NO_USER;
  const member = await queryOne("select from memberships where company_id = $1 and user_id = $2", [companyId, user.id]);
  return member ? { email: ["This user is a member already."] } : {};
};

export async function addMember(ctx: Ctx<ParamsOf<"accounts.addMember">>): Promise<Member> {
  const companyId = ownCompany(ctx);
  const { email, role } = ctx.params;
  if (role === "owner" && ctx.meta.role !== "owner") throw forbidden();
  const user = await userByEmail(email);
  if (!user) throw invalid(NO_USER);
  // The same request twice at one moment is one member, with the role that was there first.
  await queryOne("insert into memberships (company_id, user_id, role) values ($1, $2, $3) on conflict do nothing", [
    companyId,
    user.id,
    role,
  ]);
  return memberOf(companyId, user.id);
}

async function lockCompany(client: Client, companyId: string): Promise<void> {
  await client.query("select from companies where id = $1 for no key update", [companyId]);
}

async function requireAnotherOwner(client: Client, companyId: string, userId: string): Promise<void> {
  const other = await queryOne(
    "select from memberships where company_id = $1 and user_id <> $2 and role = 'owner' limit 1",
    [companyId, userId],
    client,
  );
  if (!other) throw badRequest(LAST_OWNER);
}

export function updateMember(ctx: Ctx<ParamsOf<"accounts.updateMember">>): Promise<Member> {
  const companyId = ownCompany(ctx);
  requireAdmin(ctx);
  const { user_id: userId, role } = ctx.params;
  return transaction(async (client) => {
    await lockCompany(client, companyId);
    const member = await memberOf(companyId, userId, client);
    const touchesOwners = member.role === "owner" || role === "owner";
    if (touchesOwners && ctx.meta.role !== "owner") throw forbidden();
    if (member.role === "owner" && role !== "owner") await requireAnotherOwner(client, companyId, userId);
    await client.query("update memberships set role = $3 where company_id = $1 and user_id = $2", [
      companyId,
      userId,
      role,
    ]);
    return { ...member, role };
  });
}

export function removeMember(ctx: Ctx<ParamsOf<"accounts.removeMember">>): Promise<null> {
  const companyId = ownCompany(ctx);
  const { user_id: userId } = ctx.params;
  const leaves = !ctx.meta.apiKeyId && userId.toLowerCase() === ctx.meta.userId;
  if (!leaves) requireAdmin(ctx);
  return transaction(async (client) => {
    await lockCompany(client, companyId);
    const member = await memberOf(companyId, userId, client);
    if (member.role === "owner") {
      if (ctx.meta.role !== "owner") throw forbidden();
      await requireAnotherOwner(client, companyId, userId);
    }
    await client.query("delete from memberships where company_id = $1 and user_id = $2", [companyId, userId]);
    return null;
  });
}
