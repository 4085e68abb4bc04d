/**
 * UTM parameters of a campaign, added when a tracked link is followed: reports keep the template's address, and
 * messages do not depend on them.
 */

const UTM_NAMES = ["source", "medium", "campaign", "term", "content"] as const;
export type Utm = Partial<Record<(typeof UTM_NAMES)[number], string>>;

/** Web servers accept at least 8,000 characters per request line; longer addresses get no UTM parameters. */
const MAX_TAGGED_LENGTH = 6_000;

/** Parameter names of a query string, as a server parses them. */
const namesOf = (query: string) => new Set(new URLSearchParams(query).keys());

/** Adds missing parameters after the existing query, which stays unchanged, and before the fragment. */
export function withUtm(url: string, utm: Utm | null): string {
  if (!utm) return url;
  const fragmentAt = url.includes("#") ? url.indexOf("#") : url.length;
  const address = url.slice(0, fragmentAt);
  const queryAt = address.indexOf("?");
  const query = queryAt < 0 ? "" : address.slice(queryAt + 1);
  const present = namesOf(query);
  const tags = UTM_NAMES.filter((name) => utm[name] && !present.has(`utm_${name}`)).map(
    (name) => `utm_${name}=${encodeURIComponent(utm[name]!)}`,
  );
  if (tags.length === 0) return url;
  const joint = queryAt < 0 ? "?" : query === "" || query.endsWith("&") ? "" : "&";
  const tagged = `${address}${joint}${tags.join("&")}${url.slice(fragmentAt)}`;
  return tagged.length > MAX_TAGGED_LENGTH ? url : tagged;
}
