import { createHash } from "node:crypto";
import type { Transaction } from "sequelize";
import { sequelize } from "../../models/database/db.ts";
import { Membership } from "../../models/membership.ts";
import { User } from "../../models/user.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { throttled, unauthenticated } from "../lib/errors.ts";
import { counters } from "../lib/limits/counters.ts";
import { isPassword, NOBODYS_HASH } from "./password.ts";
import { issueTokens } from "./tokens.ts";

// By account, beside the gateway's limit by IP: guessing from many addresses is not faster than from one.
const MAX_FAILURES = 10;
const FAILURES_WINDOW_SECONDS = 300;

const failuresKey = (email: string) =>
  `login:${createHash("sha256").update(email.toLowerCase()).digest("base64url").slice(0, 22)}`;

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
export async function login(params: ParamsOf<"accounts.login">): Promise<ReturnsOf<"accounts.login">> {
  const email = params.email.trim();
  const key = failuresKey(email);
  const attempt = await counters().take(key, MAX_FAILURES, FAILURES_WINDOW_SECONDS);
  if (!attempt.allowed) throw throttled(attempt.retryAfterSeconds);
  const user = await userByEmail(email);
  const fits = await isPassword(params.password, user?.passwordHash ?? NOBODYS_HASH);
  const tokens = user && fits ? await issueTokens(user) : null;
  if (!user || !tokens) throw unauthenticated("No active account found with the given credentials.");
  await counters().forget(key);
  return { ...tokens, user: user.view(), companies: await companiesOf(user.id) };
}
