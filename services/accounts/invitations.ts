/**
 * Invitations to companies. The answer to the inviter does not reveal whether the address belongs to a user; what the
 * invited person must provide depends on what the link proves.
 */

import { Op, type Transaction } from "sequelize";
import { Company } from "../../models/company.ts";
import { sequelize } from "../../models/database/db.ts";
import { Invitation } from "../../models/invitation.ts";
import { Membership } from "../../models/membership.ts";
import { audit } from "../../models/statements/audit-log.ts";
import { noticeToOwners, queueSystemMail, sendsSystemMail } from "../../models/statements/queue-system-mail.ts";
import { TrackingDomain } from "../../models/tracking-domain.ts";
import { User } from "../../models/user.ts";
import { broadcast } from "../call.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Validate } from "../define.ts";
import { addressText } from "../lib/address.ts";
import { type Ctx, knownRights } from "../lib/caller.ts";
import { type FieldErrors, forbidden, gone, invalid, notFound, unauthenticated } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { Role } from "../lib/rights.ts";
import { readAccountToken } from "../lib/tokens/account-token.ts";
import { requirePermission } from "../permissions.ts";
import type { contract } from "./contract-company.ts";
import { hashPassword } from "./password.ts";
import { userByEmail } from "./people/login.ts";
import { limitMails, replacePassword } from "./people/passwords.ts";
import { forgetTotp } from "./people/totp.ts";
import { passwordErrors } from "./people/weak-password.ts";
import { ownCompany, requireCurrentRights } from "./permission.ts";
import { linkTo } from "./system-mail/texts.ts";
import { issueTokens } from "./tokens.ts";

const VALID_MS = 7 * 86_400_000;
const INVITATIONS_PER_MINUTE = 20;

const OPEN = { acceptedAt: null, withdrawnAt: null };

export const invitationErrors: Validate<(typeof contract)["addMember"]> = async (ctx, isValid) => {
  const companyId = ownCompany(ctx);
  requirePermission("accounts.addMember", knownRights(ctx.meta));
  if (!isValid("email")) return {};
  // Existing members are visible in the member list anyway, so this reveals nothing about other users.
  const user = await userByEmail(ctx.params.email);
  const membership = user && (await Membership.findOne({ where: { companyId, userId: user.id } }));
  const errors: FieldErrors = membership ? { email: ["This user is already a member."] } : {};
  return errors;
};

interface Wanted {
  companyId: string;
  email: string;
  role: Role;
  invitedBy: string | null;
  provesAddress: boolean;
}

/** Creates an invitation and replaces the earlier one for the address: only one link works. */
export async function storeInvitation(wanted: Wanted, transaction: Transaction): Promise<Invitation> {
  const { companyId, email } = wanted;
  const earlier = await Invitation.findOne({
    where: { companyId, emailKey: sequelize().fn("lower", addressText(email)), ...OPEN },
    transaction,
  });
  await earlier?.update({ withdrawnAt: new Date() }, { transaction });
  const values = { ...wanted, id: newId(), email: addressText(email), expiresAt: new Date(Date.now() + VALID_MS) };
  return Invitation.create(values, { transaction });
}

export async function invite(ctx: Ctx<ParamsOf<"accounts.addMember">>): Promise<ReturnsOf<"accounts.addMember">> {
  const companyId = ownCompany(ctx);
  const { email, role } = ctx.params;
  await limitMails(`invitations:${companyId}`, INVITATIONS_PER_MINUTE);
  return sequelize().transaction(async (transaction) => {
    const caller = await requireCurrentRights(ctx.meta, "accounts.addMember", transaction);
    if (role === "owner" && caller.role !== "owner") throw forbidden();
    const invitedBy = ctx.meta.userId ?? null;
    const byMail = sendsSystemMail();
    const invitation = await storeInvitation({ companyId, email, role, invitedBy, provesAddress: byMail }, transaction);
    const inviter = invitedBy ? (await User.findByPk(invitedBy, { transaction }))?.email : undefined;
    const company = (await Company.findByPk(companyId, { transaction }))!.name;
    const data = { invitationId: invitation.id, company, inviter: inviter ?? "The operator", role };
    await queueSystemMail("invitation", invitation.email, data, transaction);
    const detail = { email: invitation.email, role };
    await audit(companyId, ctx.meta, { action: "member.invited", target: invitation.id, detail }, transaction);
    return {
      id: invitation.id,
      email: invitation.email,
      role,
      status: "invited",
      expires_at: invitation.expiresAt.toISOString(),
      ...(byMail ? {} : { invite_url: linkTo("invitation", invitation.id) }),
    };
  });
}

/** Returns true if an invitation was removed. */
export async function withdrawInvitation(companyId: string, id: string, transaction: Transaction): Promise<boolean> {
  const where = { companyId, id, ...OPEN };
  const [withdrawn] = await Invitation.update({ withdrawnAt: new Date() }, { where, transaction });
  return withdrawn > 0;
}

/** Withdraws invitations by a member who lost permission: all of them, or those for owners only. */
export async function voidInvitationsBy(
  companyId: string,
  invitedBy: string,
  role: Role | undefined,
  transaction: Transaction,
): Promise<void> {
  if (role === "owner") return;
  const ofRole = role === "admin" ? { role: "owner" as const } : {};
  const where = { companyId, invitedBy, ...OPEN, ...ofRole };
  await Invitation.update({ withdrawnAt: new Date() }, { where, transaction });
}

type AcceptParams = ParamsOf<"accounts.acceptInvitation">;

/**
 * Finds or creates the account of the invited person. An unverified account may be a squatter's: a person who proves
 * control of the mailbox takes it over and its sessions end. A link that others have seen (no system mail) proves
 * nothing, so an existing account must sign in.
 */
async function personFor(
  invitation: Invitation,
  given: AcceptParams & { passwordHash: string | null },
  signedIn: string | undefined,
  transaction: Transaction,
): Promise<{ user: User; replaced: boolean }> {
  const proof = invitation.provesAddress ? { emailVerifiedAt: new Date() } : {};
  const user = await userByEmail(invitation.email, transaction);
  if (signedIn) {
    if (user?.id !== signedIn) throw forbidden("This invitation is for another address.");
    if (!user.emailVerifiedAt) await user.update(proof, { transaction });
    return { user, replaced: false };
  }
  if (user && (user.emailVerifiedAt || !invitation.provesAddress)) {
    throw unauthenticated("An account with this address exists. Sign in to accept the invitation.");
  }
  const { passwordHash, password = "", first_name = "", last_name = "" } = given;
  if (!passwordHash) throw invalid({ password: ["This field is required."] });
  const errors = await passwordErrors(password, [invitation.email, first_name, last_name]);
  if (errors.length > 0) throw invalid({ password: errors });
  const names = { firstName: first_name.trim(), lastName: last_name.trim() };
  if (!user) {
    const values = { email: invitation.email, passwordHash, ...names, ...proof };
    return { user: await User.create(values, { transaction }), replaced: false };
  }
  await replacePassword(user.id, passwordHash, transaction);
  await forgetTotp(user.id, transaction);
  await user.update({ passwordHash, ...names, ...proof }, { transaction });
  return { user, replaced: true };
}

async function openInvitation(token: string, transaction: Transaction): Promise<Invitation> {
  const id = readAccountToken("invitation", token);
  const lock = transaction.LOCK.UPDATE;
  const invitation = id ? await Invitation.findOne({ where: { id }, transaction, lock }) : null;
  if (!invitation) throw notFound();
  if (invitation.acceptedAt) throw gone("This invitation has already been accepted.");
  if (invitation.withdrawnAt) throw gone("This invitation was withdrawn.");
  if (invitation.expiresAt.getTime() <= Date.now()) throw gone("This invitation has expired.");
  return invitation;
}

export async function acceptInvitation(ctx: Ctx<AcceptParams>): Promise<ReturnsOf<"accounts.acceptInvitation">> {
  const { token, password } = ctx.params;
  if (!readAccountToken("invitation", token)) throw notFound();
  const passwordHash = password === undefined || ctx.meta.userId ? null : await hashPassword(password);
  const { answer, userId } = await sequelize().transaction(async (transaction) => {
    const invitation = await openInvitation(token, transaction);
    const { companyId } = invitation;
    const { user, replaced } = await personFor(
      invitation,
      { ...ctx.params, passwordHash },
      ctx.meta.userId,
      transaction,
    );
    await invitation.update({ acceptedAt: new Date() }, { transaction });
    // Existing members keep their role.
    const values = { companyId, userId: user.id, role: invitation.role };
    await Membership.bulkCreate([values], { ignoreDuplicates: true, transaction });
    const company = (await Company.findByPk(companyId, { transaction }))!;
    const domain = await TrackingDomain.findByPk(companyId, { transaction });
    const member = { company: company.name, member: user.email, role: invitation.role };
    await noticeToOwners(companyId, "member_joined", member, transaction);
    const joined = { action: "member.joined", target: user.id, detail: { email: user.email } } as const;
    await audit(companyId, { ...ctx.meta, userId: user.id }, joined, transaction);
    const tokens = (await issueTokens(user, ctx.meta, transaction))!;
    const role = (await Membership.findOne({ where: { companyId, userId: user.id }, transaction }))!.role;
    return {
      answer: { user: user.view(), company: { ...company.view(domain), role }, ...tokens },
      userId: replaced ? user.id : null,
    };
  });
  if (userId) await broadcast(ctx, "member.changed", { userId });
  return answer;
}

/** Keeps expired invitations for a while so that their links are distinguished from invalid ones. */
export async function purgeInvitations(): Promise<void> {
  const before = new Date(Date.now() - 30 * 86_400_000);
  await Invitation.destroy({ where: { expiresAt: { [Op.lt]: before } } });
}
