import { type Transaction, UniqueConstraintError } from "sequelize";
import { Company } from "../../models/company.ts";
import { sequelize } from "../../models/database/db.ts";
import { Membership } from "../../models/membership.ts";
import { User } from "../../models/user.ts";
import { broadcast } from "../call.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { addressText } from "../lib/address.ts";
import { type Ctx, userOf } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { type FieldErrors, forbidden, invalid, throttled } from "../lib/errors.ts";
import { apiLimiter } from "../lib/limits/api-limiter.ts";
import { exactWindow } from "../lib/limits/limiter.ts";
import { hashPassword } from "./password.ts";
import { userByEmail } from "./people/login.ts";
import { mailVerification } from "./people/passwords.ts";
import { passwordErrors } from "./people/weak-password.ts";
import { issueTokens } from "./tokens.ts";

type Params = ParamsOf<"accounts.register">;

const TAKEN: FieldErrors = { email: ["A user with this email address already exists."] };

export async function registrationErrors(ctx: Ctx<Params>, isValid: (field: keyof Params) => boolean) {
  requireOpen();
  const errors: FieldErrors = {};
  const { email, password, ...names } = ctx.params;
  if (isValid("password")) {
    const words = [email, names.company_name, names.first_name, names.last_name].filter((w) => typeof w === "string");
    const found = await passwordErrors(password, words);
    if (found.length > 0) errors.password = found;
  }
  if (isValid("email") && (await userByEmail(email))) Object.assign(errors, TAKEN);
  return errors;
}

const COMPANIES_PER_HOUR = 5;

const requireOpen = (): void => {
  if (config().REGISTRATION !== "open") throw forbidden("Registration is by invitation only.");
};

async function createOwned(name: string, userId: string, transaction: Transaction): Promise<Company> {
  const company = await Company.create({ name: name.trim(), plan: config().DEFAULT_PLAN }, { transaction });
  await Membership.create({ companyId: company.id, userId, role: "owner" }, { transaction });
  return company;
}

/** Creates a company for an existing user; registration requires a new address. */
export async function addCompany(ctx: Ctx<ParamsOf<"accounts.addCompany">>): Promise<ReturnsOf<"accounts.addCompany">> {
  requireOpen();
  const userId = userOf(ctx);
  const window = exactWindow(`companies:${userId}`, COMPANIES_PER_HOUR, 3_600);
  const { granted, retryAfterMs } = await apiLimiter().take(window, 1);
  if (granted === 0) throw throttled(Math.ceil(retryAfterMs / 1_000));
  const company = await sequelize().transaction((transaction) => createOwned(ctx.params.name, userId, transaction));
  await broadcast(ctx, "member.changed", { userId });
  return { ...company.view(), role: "owner" };
}

/** Creates user, company, membership and first token in one transaction. */
export async function register({ params, meta }: Ctx<Params>): Promise<ReturnsOf<"accounts.register">> {
  const { email, password, company_name, first_name = "", last_name = "" } = params;
  // Hash before the transaction, so that no connection waits for it.
  const passwordHash = await hashPassword(password);
  const names = { firstName: first_name.trim(), lastName: last_name.trim() };
  try {
    return await sequelize().transaction(async (transaction) => {
      const user = await User.create({ email: addressText(email), passwordHash, ...names }, { transaction });
      const company = await createOwned(company_name, user.id, transaction);
      await mailVerification(user, transaction);
      const tokens = await issueTokens(user, meta, transaction);
      return { user: user.view(), company: company.view(), ...tokens! };
    });
  } catch (error) {
    // A concurrent registration of the same address passed the check, too.
    if (error instanceof UniqueConstraintError && "email_key" in error.fields) throw invalid(TAKEN);
    throw error;
  }
}
