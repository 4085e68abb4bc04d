/** Where links of mails begin: BASE_URL, with a company's own host in place of the service's once it is proved. */
import { config } from "./config.ts";

/** With the host in ASCII, as headers need it, and without a slash at its end. */
export function linksBase(trackingDomain: string | null = null): string {
  const url = new URL(config().BASE_URL);
  if (trackingDomain !== null) url.hostname = trackingDomain;
  return url.href.replace(/\/+$/, "");
}

/** Where a host of a company's own serves the token that proves it. */
export const TOKEN_PATH = "/.well-known/flockmail";

/** The host of BASE_URL as it goes over the wire. */
export const ownHost = (): string => new URL(config().BASE_URL).hostname.replace(/\.$/, "");
