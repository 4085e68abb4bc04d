/** Two-factor authentication: authenticator codes and recovery codes. */
import type { Transaction } from "sequelize";
import { sequelize } from "../../../models/database/db.ts";
import { RecoveryCode } from "../../../models/recovery-code.ts";
import { User } from "../../../models/user.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { type Ctx, userOf } from "../../lib/caller.ts";
import { config } from "../../lib/config.ts";
import { badRequest, invalid, notFound } from "../../lib/errors.ts";
import { seal, unseal } from "../../lib/secrets.ts";
import { requireOwnPassword } from "./own-password.ts";
import { spendRecoveryCode, spendTotpStep } from "./second-factor-rows.ts";
import { newRecoveryCodes, newTotpSecret, recoveryHash, stepOfCode, totpUri } from "./totp-codes.ts";

const WRONG_CODE = { code: ["This code is wrong or has already been used."] };

async function spendTotp(user: User, code: string): Promise<boolean> {
  if (!user.totpSecretSealed) return false;
  const step = stepOfCode(unseal(user.totpSecretSealed, user.id), code.replaceAll(/\s/g, ""));
  return step !== null && (await spendTotpStep(user.id, step));
}

/** Uses up a code of either kind. */
export const spendCode = async (user: User, code: string): Promise<boolean> =>
  (await spendTotp(user, code)) || spendRecoveryCode(user.id, recoveryHash(code));

export async function beginTotp(ctx: Ctx): Promise<ReturnsOf<"accounts.beginTotp">> {
  const user = await User.findByPk(userOf(ctx));
  if (!user) throw notFound();
  if (user.totpConfirmedAt) throw badRequest("Two-factor authentication is on already. Switch it off first.");
  const secret = newTotpSecret();
  // Changes only an unconfirmed secret: a concurrent request must not replace a secret in use.
  const [changed] = await User.update(
    { totpSecretSealed: seal(secret, user.id), totpLastStep: 0 },
    { where: { id: user.id, totpConfirmedAt: null } },
  );
  if (changed === 0) throw badRequest("Two-factor authentication is on already. Switch it off first.");
  return { secret, uri: totpUri(secret, config().SERVICE_NAME, user.email) };
}

export async function confirmTotp(ctx: Ctx<{ code: string }>): Promise<ReturnsOf<"accounts.confirmTotp">> {
  const user = await User.findByPk(userOf(ctx));
  if (!user?.totpSecretSealed) throw badRequest("Start two-factor authentication first.");
  if (user.totpConfirmedAt) throw badRequest("Two-factor authentication is on already.");
  if (!(await spendTotp(user, ctx.params.code))) throw invalid(WRONG_CODE);
  const codes = newRecoveryCodes();
  await sequelize().transaction(async (transaction) => {
    await RecoveryCode.destroy({ where: { userId: user.id }, transaction });
    const rows = codes.map((code) => ({ userId: user.id, codeHash: recoveryHash(code) }));
    await RecoveryCode.bulkCreate(rows, { transaction });
    await User.update({ totpConfirmedAt: new Date() }, { where: { id: user.id }, transaction });
  });
  return { recovery_codes: codes };
}

/** Requires password and code, so that an unattended browser is not enough. */
export async function removeTotp(ctx: Ctx<{ password: string; code: string }>): Promise<null> {
  const user = await requireOwnPassword(ctx, "password", ctx.params.password);
  if (!user.totpConfirmedAt) throw notFound();
  if (!(await spendCode(user, ctx.params.code))) throw invalid(WRONG_CODE);
  await sequelize().transaction((transaction) => forgetTotp(user.id, transaction));
  return null;
}

/** Removes the second factor. Also called when a person proves ownership of a mailbox that another registered. */
export async function forgetTotp(userId: string, transaction: Transaction): Promise<void> {
  await RecoveryCode.destroy({ where: { userId }, transaction });
  await User.update(
    { totpSecretSealed: null, totpConfirmedAt: null, totpLastStep: 0 },
    { where: { id: userId }, transaction },
  );
}
