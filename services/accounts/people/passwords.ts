/** Changes passwords and resets them by a mailed link. Both end the sessions of the old password. */

import { Op, type Transaction } from "sequelize";
import { AccountToken } from "../../../models/account-token.ts";
import { sequelize } from "../../../models/database/db.ts";
import { RefreshToken } from "../../../models/refresh-token.ts";
import { queueSystemMail } from "../../../models/statements/queue-system-mail.ts";
import { User } from "../../../models/user.ts";
import { broadcast } from "../../call.ts";
import type { ParamsOf } from "../../contracts.ts";
import { addressText } from "../../lib/address.ts";
import { type Ctx, userOf } from "../../lib/caller.ts";
import { invalid, throttled, unauthenticated } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { apiLimiter } from "../../lib/limits/api-limiter.ts";
import { exactWindow } from "../../lib/limits/limiter.ts";
import { readAccountToken } from "../../lib/tokens/account-token.ts";
import { withUniformTiming } from "../../lib/uniform-timing.ts";
import { hashPassword } from "../password.ts";
import { issueTokens, type Tokens } from "../tokens.ts";
import { userByEmail } from "./login.ts";
import { requireOwnPassword } from "./own-password.ts";
import { passwordErrors } from "./weak-password.ts";

const RESET_SECONDS = 3_600;
const VERIFY_SECONDS = 7 * 86_400;
/** Password emails per address and hour: a public form must not fill a mailbox. */
const RESETS_PER_HOUR = 3;
/** Verification emails per address and hour. */
const VERIFICATIONS_PER_HOUR = 3;
const BAD_TOKEN = { token: ["This link is no longer valid."] };

export const wordsOf = (user: Pick<User, "email" | "firstName" | "lastName">): string[] => [
  user.email,
  user.firstName,
  user.lastName,
];

async function requireGoodPassword(password: string, user: User, field: string): Promise<void> {
  const errors = await passwordErrors(password, wordsOf(user));
  if (errors.length > 0) throw invalid({ [field]: errors });
}

/**
 * Ends all sessions of the old password, including a login in progress: it locks the user's row until it is stored, and
 * the second statement sees it. Earlier mailed links become invalid, too.
 */
export async function replacePassword(userId: string, passwordHash: string, transaction: Transaction): Promise<void> {
  await User.update({ passwordHash }, { where: { id: userId }, transaction });
  const now = sequelize().fn("now");
  await RefreshToken.update({ revokedAt: now }, { where: { userId, revokedAt: null }, transaction });
  await AccountToken.update({ spentAt: now }, { where: { userId, kind: "reset", spentAt: null }, transaction });
}

/** Keeps the current session with new tokens and ends all others. */
export async function changePassword(ctx: Ctx<ParamsOf<"accounts.changePassword">>): Promise<Tokens> {
  const { current_password, new_password } = ctx.params;
  const user = await requireOwnPassword(ctx, "current_password", current_password);
  await requireGoodPassword(new_password, user, "new_password");
  const passwordHash = await hashPassword(new_password);
  const tokens = await sequelize().transaction(async (transaction) => {
    await replacePassword(user.id, passwordHash, transaction);
    user.passwordHash = passwordHash;
    await queueSystemMail("password_changed", user.email, { at: new Date().toISOString() }, transaction);
    return issueTokens(user, ctx.meta, transaction);
  });
  await broadcast(ctx, "member.changed", { userId: user.id });
  return tokens!;
}

async function mailLink(kind: "verify" | "reset", user: User, seconds: number, transaction: Transaction) {
  const id = newId();
  const expiresAt = new Date(Date.now() + seconds * 1_000);
  await AccountToken.create({ id, kind, userId: user.id, expiresAt }, { transaction });
  await queueSystemMail(kind, user.email, { tokenId: id }, transaction);
}

export const mailVerification = (user: User, transaction: Transaction) =>
  mailLink("verify", user, VERIFY_SECONDS, transaction);

/**
 * Sends a verification link to the user's own address. Earlier links stay valid, because emails may arrive in any order.
 */
export async function mailVerificationAgain(ctx: Ctx): Promise<object> {
  const user = await User.findByPk(userOf(ctx));
  if (!user) throw unauthenticated();
  if (user.emailVerifiedAt) return {};
  const window = exactWindow(`verify:${user.id}`, VERIFICATIONS_PER_HOUR, 3_600);
  const { granted, retryAfterMs } = await apiLimiter().take(window, 1);
  if (granted === 0) throw throttled(Math.ceil(retryAfterMs / 1_000));
  await sequelize().transaction((transaction) => mailVerification(user, transaction));
  return {};
}

/**
 * Gives the same answer in the same time for any address. Work that depends on the address runs after the answer, which
 * is sent at a fixed time because both share a processor.
 */
export async function askForReset(
  ctx: Ctx<{ email: string }>,
  later: (work: () => Promise<unknown>) => void,
): Promise<object> {
  const email = addressText(ctx.params.email);
  return withUniformTiming(async () => {
    later(async () => {
      const user = await userByEmail(email);
      if (!user) return;
      const window = exactWindow(`reset:${user.id}`, RESETS_PER_HOUR, 3_600);
      if ((await apiLimiter().take(window, 1)).granted === 0) return;
      await sequelize().transaction((transaction) => mailLink("reset", user, RESET_SECONDS, transaction));
    });
    return {};
  });
}

/** Uses up a link in the transaction of its action. */
export async function spend(
  kind: "verify" | "reset" | "sign_in",
  token: string,
  transaction: Transaction,
): Promise<User> {
  const id = readAccountToken(kind, token);
  const now = sequelize().fn("now");
  const [, [spent]] = id
    ? await AccountToken.update(
        { spentAt: now },
        { where: { id, kind, spentAt: null, expiresAt: { [Op.gt]: now } }, returning: true, transaction },
      )
    : [0, []];
  const user = spent && (await User.findByPk(spent.userId, { transaction }));
  if (!user) throw invalid(BAD_TOKEN);
  return user;
}

/** The link also verifies the address. */
export async function confirmReset(ctx: Ctx<ParamsOf<"accounts.confirmReset">>): Promise<object> {
  const { token, new_password } = ctx.params;
  // Check the link before hashing, so that invalid links cost no CPU.
  if (!readAccountToken("reset", token)) throw invalid(BAD_TOKEN);
  const passwordHash = await hashPassword(new_password);
  const userId = await sequelize().transaction(async (transaction) => {
    const user = await spend("reset", token, transaction);
    // Throwing rolls back, so that the link works for a better password.
    await requireGoodPassword(new_password, user, "new_password");
    await replacePassword(user.id, passwordHash, transaction);
    const emailVerifiedAt = user.emailVerifiedAt ?? new Date();
    await User.update({ emailVerifiedAt }, { where: { id: user.id }, transaction });
    await queueSystemMail("password_changed", user.email, { at: new Date().toISOString() }, transaction);
    return user.id;
  });
  await broadcast(ctx, "member.changed", { userId });
  return {};
}

export async function verifyEmail(ctx: Ctx<{ token: string }>): Promise<{ email: string; email_verified: boolean }> {
  return sequelize().transaction(async (transaction) => {
    const user = await spend("verify", ctx.params.token, transaction);
    await user.update({ emailVerifiedAt: user.emailVerifiedAt ?? new Date() }, { transaction });
    return { email: user.email, email_verified: true };
  });
}

/** Limits mail requests per minute under `key`; throws a 429 beyond the limit. */
export async function limitMails(key: string, limit: number): Promise<void> {
  const { granted, retryAfterMs } = await apiLimiter().take(exactWindow(key, limit, 60), 1);
  if (granted === 0) throw throttled(Math.ceil(retryAfterMs / 1_000));
}
