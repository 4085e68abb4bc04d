/** Asks a signed-in person for the password again, with a limit on guesses from an unattended browser. */
import { User } from "../../../models/user.ts";
import { type Ctx, userOf } from "../../lib/caller.ts";
import { invalid, throttled, unauthenticated } from "../../lib/errors.ts";
import { apiLimiter } from "../../lib/limits/api-limiter.ts";
import { exactWindow } from "../../lib/limits/limiter.ts";
import { isPassword } from "../password.ts";

const TRIES = 10;
const WINDOW_SECONDS = 300;

/** Returns the user if the password is right, otherwise null. */
async function withPassword(ctx: Ctx, password: string): Promise<User | null> {
  const userId = userOf(ctx);
  const window = exactWindow(`own-password:${userId}`, TRIES, WINDOW_SECONDS);
  const { granted, retryAfterMs } = await apiLimiter().take(window, 1);
  if (granted === 0) throw throttled(Math.ceil(retryAfterMs / 1_000));
  const user = await User.findByPk(userId);
  if (!user) throw unauthenticated();
  if (!(await isPassword(password, user.passwordHash))) return null;
  await apiLimiter().forget(window);
  return user;
}

export const isOwnPassword = async (ctx: Ctx, password: string): Promise<boolean> =>
  (await withPassword(ctx, password)) !== null;

/** `field` is the field that the error is reported for. */
export async function requireOwnPassword(ctx: Ctx, field: string, password: string): Promise<User> {
  const user = await withPassword(ctx, password);
  if (!user) throw invalid({ [field]: ["This password is wrong."] });
  return user;
}
