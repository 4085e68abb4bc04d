/**
 * CORS for the public endpoints, so that a company's own site can embed a subscribe form. Other endpoints require a
 * secret, which must not be in a page: they send no CORS headers, so browsers block requests from other sites.
 */
import type { Context } from "./context.ts";

const PUBLIC = "/api/emails/public/";
/** The longest time that browsers cache a preflight response. */
const MAX_AGE_SECONDS = "7200";

/** The header of public endpoints, as name and value. */
export const ANY_SITE = ["Access-Control-Allow-Origin", "*"] as const;

export const isPublic = ({ path }: Context) => path.startsWith(PUBLIC);

/** Answers a preflight request, which browsers send before JSON. */
export function allowPreflight(context: Context, methods: string): void {
  if (!isPublic(context)) return;
  context.set("Access-Control-Allow-Methods", methods);
  context.set("Access-Control-Allow-Headers", "Content-Type");
  context.set("Access-Control-Max-Age", MAX_AGE_SECONDS);
}
