import type { Context } from "./context.ts";

/** The value of the first cookie with this name, if any. */
export function cookieNamed(context: Context, name: string): string | undefined {
  const pair = context
    .get("cookie")
    .split(";")
    .map((one) => one.trim())
    .find((one) => one.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}
