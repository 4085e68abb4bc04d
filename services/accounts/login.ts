import { createHash } from "node:crypto";
import type { Transaction } from "sequelize";
import { sequelize } from "../../models/database/db.ts";
import { Membership } from "../../models/membership.ts";
import { User } from "../../models/user.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { throttled, unauthenticated } from "../lib/errors.ts";
import { apiLimiter } from "../lib/limits/api-limiter.ts";
import { exactWindow } from "../lib/limits/limiter.ts";
import { isPassword, NOBODYS_HASH } from "./password.ts";
import { issueTokens } from "./tokens.ts";

// By account, beside the gateway's limit by IP: guessing from many addresses is not faster than from one.
const MAX_FAILURES = 10;
const FAILURES_WINDOW_SECONDS = 300;

function failuresOf(email: string) {
  const account = createHash("sha256").update(email.toLowerCase()).digest("base64url").slice(0, 22);
  return exactWindow(`login:${account}`, MAX_FAILURES, FAILURES_WINDOW_SECONDS);
}

/** Addresses are compared as the database's generated column has them. */
export const userByEmail = (email: string, transaction: Transaction | null = null): Promise<User | null> =>
  User.findOne({ where: { emailKey: sequelize().fn("lower", email.trim()) }, transaction });

const MAX_COMPANIES = 1_000;

async function companiesOf(userId: string) {
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

/** The same answer, after the same work, for a wrong password and for a user that does not exist. */
export async function login(ctx: Ctx<ParamsOf<"accounts.login">>): Promise<ReturnsOf<"accounts.login">> {
  const { params } = ctx;
  // No address: people type passwords into the wrong field.
  const logFailure = (reason: string, userId?: string) =>
    ctx.broker.logger.info({ ip: ctx.meta.http?.ip, userId, reason }, "Login failed");
  const email = params.email.trim();
  const failures = failuresOf(email);
  const { granted, retryAfterMs } = await apiLimiter().take(failures, 1);
  if (granted === 0) {
    logFailure("too many attempts");
    throw throttled(Math.ceil(retryAfterMs / 1_000));
  }
  const user = await userByEmail(email);
  const fits = await isPassword(params.password, user?.passwordHash ?? NOBODYS_HASH);
  const tokens = user && fits ? await issueTokens(user) : null;
  if (!user || !tokens) {
    logFailure(user ? "wrong password" : "unknown address", user?.id);
    throw unauthenticated("No active account found with the given credentials.");
  }
  await apiLimiter().forget(failures);
  return { ...tokens, user: user.view(), companies: await companiesOf(user.id) };
}
