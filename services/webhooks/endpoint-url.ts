/** Which address a webhook may have. Checked when it is given, and its host again at each delivery. */
import { config } from "../lib/config.ts";
import { HostError, resolvePublic } from "../lib/ssrf/guard.ts";

/** The fault of a webhook's address as a sentence, or null. */
export async function urlFault(text: string, allowPrivate = config().ALLOW_PRIVATE_NETWORKS): Promise<string | null> {
  if (!URL.canParse(text)) return "Enter a valid URL.";
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:"))
    return "The URL must begin with https://.";
  if (url.username !== "" || url.password !== "") return "The URL must not contain a user name or password.";
  // Everything is allowed, so there is nothing to resolve; and a host that has no address today may have one tomorrow.
  if (allowPrivate) return null;
  return resolvePublic(url.hostname, { allowPrivate }).then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof HostError)) throw error;
      return error.reason === "refused" ? error.message : null;
    },
  );
}
