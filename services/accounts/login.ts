import { createHash } from "node:crypto";
import { Company } from "../../models/company.ts";
import { query } from "../../models/database/db.ts";
import { User } from "../../models/user.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Role } from "../lib/caller.ts";
import { throttled, unauthenticated } from "../lib/errors.ts";
import { apiLimiter } from "../lib/limits/api-limiter.ts";
import { exactWindow } from "../lib/limits/limiter.ts";
import { isPassword, NOBODYS_HASH } from "./password.ts";
import { type Account, issueTokens } from "./tokens.ts";

// By account, beside the gateway's limit by IP: guessing from many addresses is no faster than this.
const MAX_FAILURES = 10;
const FAILURES_WINDOW_SECONDS = 300;

function failuresOf(email: string) {
  const account = createHash("sha256").update(email.toLowerCase()).digest("base64url").slice(0, 22);
  return exactWindow(`login:${account}`, MAX_FAILURES, FAILURES_WINDOW_SECONDS);
}

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
export async function login(params: ParamsOf<"accounts.login">): Promise<ReturnsOf<"accounts.login">> {
  const email = params.email.trim();
  const failures = failuresOf(email);
  const { granted, retryAfterMs } = await apiLimiter().take(failures, 1);
  if (granted === 0) throw throttled(Math.ceil(retryAfterMs / 1_000));
  const [found] = await query<Account>(
    `select id, password_hash as "passwordHash" from users where email_key = lower($1)`,
    [email],
  );
  const fits = await isPassword(params.password, found?.passwordHash ?? NOBODYS_HASH);
  const tokens = found && fits ? await issueTokens(found) : null;
  if (!found || !tokens) throw unauthenticated("No active account found with the given credentials.");
  await apiLimiter().forget(failures);
  const [user, companies] = await Promise.all([
    User.findByPk(found.id, { rejectOnEmpty: true }),
    companiesOf(found.id),
  ]);
  return { ...tokens, user: user.view(), companies };
}
