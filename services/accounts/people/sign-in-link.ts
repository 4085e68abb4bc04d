/** Sign-in links: valid once and for minutes, created by an operator's command. */
import { AccountToken } from "../../../models/account-token.ts";
import { sequelize } from "../../../models/database/db.ts";
import { auditUser } from "../../../models/statements/audit-log.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import type { Ctx } from "../../lib/caller.ts";
import { badRequest, invalid, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { linkTo } from "../system-mail/texts.ts";
import { issueTokens } from "../tokens.ts";
import { userByEmail } from "./login.ts";
import { spend } from "./passwords.ts";

const GOOD_MS = 5 * 60_000;

export async function signInLink(ctx: Ctx<ParamsOf<"accounts.signInLink">>): Promise<ReturnsOf<"accounts.signInLink">> {
  const user = await userByEmail(ctx.params.email);
  if (!user) throw notFound();
  if (user.totpConfirmedAt) throw badRequest("This person signs in with a second factor, which a link would go round.");
  const id = newId();
  const expiresAt = new Date(Date.now() + GOOD_MS);
  await AccountToken.create({ id, kind: "sign_in", userId: user.id, expiresAt });
  ctx.broker.logger.info({ userId: user.id }, "Sign-in link created");
  return [{ url: linkTo("sign_in", id), good_until: expiresAt.toISOString() }];
}

export async function signInByLink(
  ctx: Ctx<ParamsOf<"accounts.signInByLink">>,
): Promise<ReturnsOf<"accounts.signInByLink">> {
  const { user, tokens } = await sequelize().transaction(async (transaction) => {
    const user = await spend("sign_in", ctx.params.token, transaction);
    return { user, tokens: user.totpConfirmedAt ? null : await issueTokens(user, ctx.meta, transaction) };
  });
  if (!tokens) throw invalid({ token: ["This link is no longer valid."] });
  await auditUser(user.id, ctx.meta, "auth.login");
  return { access: tokens.access };
}
