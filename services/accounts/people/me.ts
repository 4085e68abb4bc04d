import { User } from "../../../models/user.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { type Ctx, userOf } from "../../lib/caller.ts";
import { unauthenticated } from "../../lib/errors.ts";
import { companiesOf } from "./login.ts";

export async function me(ctx: Ctx): Promise<ReturnsOf<"accounts.me">> {
  const user = await User.findByPk(userOf(ctx));
  if (!user) throw unauthenticated();
  const { id, email, first_name, last_name } = user.view();
  const companies = (await companiesOf(id)).map(({ id, name, role, timezone }) => ({ id, name, role, timezone }));
  return {
    user: {
      id,
      email,
      first_name,
      last_name,
      email_verified: user.emailVerifiedAt !== null,
      totp_enabled: user.totpConfirmedAt !== null,
    },
    companies,
  };
}
