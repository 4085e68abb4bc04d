/**
 * Pages of other sites may use the public endpoints: a subscribe form on a company's own site. Everything else takes a
 * secret that belongs in no page; there, a browser is told nothing and asks no further.
 */
import type { Exchange } from "./exchange.ts";

const PUBLIC = "/api/emails/public/";
/** The longest that browsers keep an answer of ours. */
const MAX_AGE_SECONDS = "7200";

const isPublic = ({ path }: Exchange) => path.startsWith(PUBLIC);

export function allowOtherSites(exchange: Exchange): void {
  if (isPublic(exchange)) exchange.set("Access-Control-Allow-Origin", "*");
}

/** What a browser asks before it sends JSON. */
export function tellBrowsers(exchange: Exchange, methods: string): void {
  if (!isPublic(exchange)) return;
  exchange.set("Access-Control-Allow-Methods", methods);
  exchange.set("Access-Control-Allow-Headers", "Content-Type");
  exchange.set("Access-Control-Max-Age", MAX_AGE_SECONDS);
}
