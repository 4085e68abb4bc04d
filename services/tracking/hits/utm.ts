/**
 * Tags of a campaign (`utm_source` and so on), added to the address of a tracked link when it is followed: what is counted
 * and reported stays the address that the template has, and mails are the same with tags and without.
 */

const UTM_NAMES = ["source", "medium", "campaign", "term", "content"] as const;
export type Utm = Partial<Record<(typeof UTM_NAMES)[number], string>>;

/** Web servers take 8,000 characters and more for a whole request line; an address that would be longer goes without tags. */
const MAX_TAGGED_LENGTH = 6_000;

/** The names of an address's query, as a server reads them. */
const namesOf = (query: string) => new Set(new URLSearchParams(query).keys());

/** `url` with the tags that it lacks behind its own query, which stays as it is, and before its fragment. */
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
