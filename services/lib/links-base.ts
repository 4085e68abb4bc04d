/** Base URL of links in mails: BASE_URL, with the company's own host once it is verified. */
import { config } from "./config.ts";

/** BASE_URL with an ASCII host, as headers require, and without a trailing slash. */
export function linksBase(trackingDomain: string | null = null): string {
  const url = new URL(config().BASE_URL);
  if (trackingDomain !== null) url.hostname = trackingDomain;
  return url.href.replace(/\/+$/, "");
}

/** Path at which a company's own host serves its verification token. */
export const TOKEN_PATH = "/.well-known/flockmail";

/** Host of BASE_URL in wire form. */
export const ownHost = (): string => new URL(config().BASE_URL).hostname.replace(/\.$/, "");
