/**
 * Cookie that marks a browser with a past login, so that wrong logins elsewhere do not lock it out. It grants no
 * access, and browsers send it to the login only.
 */
import type { Context } from "./context.ts";
import { cookieNamed } from "./cookies.ts";

const NAME = "fm_device";
const PATH = "/api/auth/login/";
const MAX_AGE_SECONDS = 365 * 86_400;
const VALUE = /^[A-Za-z0-9_-]{1,128}$/;

export function deviceOf(context: Context): string | undefined {
  const value = cookieNamed(context, NAME);
  return value !== undefined && VALUE.test(value) ? value : undefined;
}

export function setDevice(context: Context, device: string, baseUrl: string): void {
  const secure = baseUrl.startsWith("https:") ? "; Secure" : "";
  const attributes = `Path=${PATH}; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Strict${secure}`;
  context.append("Set-Cookie", `${NAME}=${device}; ${attributes}`);
}
