import { createHash } from "node:crypto";
import { Company } from "../../models/company.ts";
import { query } from "../../models/database/db.ts";
import { User } from "../../models/user.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Ctx, Role } from "../lib/caller.ts";
import { throttled, unauthenticated } from "../lib/errors.ts";
import { counters } from "../lib/limits/counters.ts";
import { isPassword, NOBODYS_HASH } from "./password.ts";
import { type Account, issueTokens } from "./tokens.ts";

// By account, beside the gateway's limit by IP: guessing from many addresses is no faster than this.
const MAX_FAILURES = 10;
const FAILURES_WINDOW_SECONDS = 300;

const failuresKey = (email: string) =>
  `login:${createHash("sha256").update(email.toLowerCase()).digest("base64url").slice(0, 22)}`;

const companiesOf = async (userId: string) => {
  const memberships = await query<{ company_id: string; role: Role }>(
    "select company_id, role from memberships where user_id = $1 order by created_at, company_id limit 1000",
    [userId],
  );
  const roles = new Map(memberships.map(({ company_id, role }) => [company_id, role]));
  const companies = await Company.findAll({ where: { id: [...roles.keys()] }, order: ["id"] });
  return companies.map((company) => ({ ...company.view(), role: roles.get(company.id)! }));
};

/** The same answer, after the same work, for a wrong password and for a user that does not exist. */
export async function login(ctx: Ctx<ParamsOf<"accounts.login">>): Promise<ReturnsOf<"accounts.login">> {
  const { params } = ctx;
  // No address: people type passwords into the wrong field.
  const logFailure = (reason: string, userId?: string) =>
    ctx.broker.logger.info({ ip: ctx.meta.http?.ip, userId, reason }, "Login failed");
  const email = params.email.trim();
  const key = failuresKey(email);
  const attempt = await counters().take(key, MAX_FAILURES, FAILURES_WINDOW_SECONDS);
  if (!attempt.allowed) {
    logFailure("too many attempts");
    throw throttled(attempt.retryAfterSeconds);
  }
  const [found] = await query<Account>(
    `select id, password_hash as "passwordHash" from users where email_key = lower($1)`,
    [email],
  );
  const fits = await isPassword(params.password, found?.passwordHash ?? NOBODYS_HASH);
  const tokens = found && fits ? await issueTokens(found) : null;
  if (!found || !tokens) {
    logFailure(found ? "wrong password" : "unknown address", found?.id);
    throw unauthenticated("No active account found with the given credentials.");
  }
  await counters().forget(key);
  const [user, companies] = await Promise.all([
    User.findByPk(found.id, { rejectOnEmpty: true }),
    companiesOf(found.id),
  ]);
  return { ...tokens, user: user.view(), companies };
}
