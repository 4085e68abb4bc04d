/** Builds URLs of list pages: keeps all parameters except the one that a link changes. */

type Query = Record<string, string>;

/**
 * Removed from every link: a changed list starts at its first page and does not repeat messages about an earlier write.
 */
const LEFT_OUT = new Set(["page", "cursor", "notice", "result", "picked"]);

/** Returns the list's URL with one parameter changed; an empty value removes it. */
export function listLink(path: string, query: Query, name: string, value: string): string {
  const next = Object.entries({ ...query, [name]: value }).filter(([key, text]) => text !== "" && !LEFT_OUT.has(key));
  return next.length === 0 ? path : `${path}?${new URLSearchParams(next)}`;
}

/** Returns the query's `ordering` if the list offers it. */
export function orderingIn({ ordering = "" }: Query, fields: readonly string[]): { ordering?: string } {
  return fields.includes(ordering.replace(/^-/, "")) ? { ordering } : {};
}
