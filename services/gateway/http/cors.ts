/**
 * Pages of other sites may use the public endpoints: a subscribe form on a company's own site. Everything else takes a
 * secret that belongs in no page: there a browser gets no CORS headers, and refuses by itself.
 */
import type { Context } from "./context.ts";

const PUBLIC = "/api/emails/public/";
/** The longest that browsers keep the answer to a preflight. */
const MAX_AGE_SECONDS = "7200";

/** Of what is public: name and value. */
export const ANY_SITE = ["Access-Control-Allow-Origin", "*"] as const;

export const isPublic = ({ path }: Context) => path.startsWith(PUBLIC);

/** The answer to a preflight: what a browser asks before it sends JSON. */
export function allowPreflight(context: Context, methods: string): void {
  if (!isPublic(context)) return;
  context.set("Access-Control-Allow-Methods", methods);
  context.set("Access-Control-Allow-Headers", "Content-Type");
  context.set("Access-Control-Max-Age", MAX_AGE_SECONDS);
}
