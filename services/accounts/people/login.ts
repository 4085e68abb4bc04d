import type { Transaction } from "sequelize";
import { sequelize } from "../../../models/database/db.ts";
import { Membership } from "../../../models/membership.ts";
import { auditUser } from "../../../models/statements/audit-log.ts";
import { queueSystemMail } from "../../../models/statements/queue-system-mail.ts";
import { User } from "../../../models/user.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import type { Caller, Ctx } from "../../lib/caller.ts";
import { totpRequired, unauthenticated } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { accountToken, readAccountToken } from "../../lib/tokens/account-token.ts";
import { DUMMY_HASH, isPassword } from "../password.ts";
import { issueTokens } from "../tokens.ts";
import { type Attempt, beginAttempt, mayNotify } from "./login-limits.ts";
import { spendCode } from "./totp.ts";

/** Normalises an address as the database's generated column does. */
export const userByEmail = (email: string, transaction: Transaction | null = null): Promise<User | null> =>
  User.findOne({ where: { emailKey: sequelize().fn("lower", email.trim()) }, transaction });

const MAX_COMPANIES = 1_000;

export async function companiesOf(userId: string) {
  const memberships = await Membership.findAll({
    where: { userId },
    include: "company",
    order: ["createdAt", "companyId"],
    limit: MAX_COMPANIES,
  });
  return memberships
    .map(({ company, role }) => ({ ...company!.view(), role }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

async function failed(user: User, attempt: Attempt, meta: Caller): Promise<void> {
  await auditUser(user.id, meta, "auth.login_failed");
  if (attempt.isLastOfAccount && (await mayNotify(user.email))) {
    await queueSystemMail("locked_out", user.email, { at: new Date().toISOString() });
  }
}

/** Gives the same answer after the same work for a wrong password and an unknown user. */
export async function login(
  ctx: Ctx<ParamsOf<"accounts.login">>,
  later: (work: () => Promise<unknown>) => void,
): Promise<ReturnsOf<"accounts.login">> {
  const { params, meta } = ctx;
  const ip = meta.http?.ip ?? "";
  // Omit the address: people type passwords into the wrong field.
  const logFailure = (reason: string, userId?: string) =>
    ctx.broker.logger.info({ ip, userId, reason }, "Login failed");
  const email = params.email.trim();
  const user = await userByEmail(email);
  const deviceId = user && meta.http?.device ? readAccountToken("device", meta.http.device, user.id) : null;
  const attempt = await beginAttempt(email, ip, deviceId).catch((error) => {
    logFailure("too many attempts");
    throw error;
  });
  const isCorrect = await isPassword(params.password, user?.passwordHash ?? DUMMY_HASH);
  if (user && isCorrect && user.totpConfirmedAt && params.code === undefined) throw totpRequired();
  const isProven = user && isCorrect && (!user.totpConfirmedAt || (await spendCode(user, params.code!)));
  const tokens = isProven ? await issueTokens(user, meta) : null;
  if (!user || !tokens) {
    logFailure(!user ? "unknown address" : isCorrect ? "wrong code" : "wrong password", user?.id);
    // Runs after the answer, whose time must not reveal whether an account exists.
    if (user) later(() => failed(user, attempt, meta));
    throw unauthenticated("No active account found with the given credentials.");
  }
  await auditUser(user.id, meta, "auth.login");
  await attempt.succeeded();
  const device = accountToken("device", deviceId ?? newId(), user.id);
  return { ...tokens, user: user.view(), companies: await companiesOf(user.id), device };
}
