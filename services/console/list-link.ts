/** Addresses of lists: what was asked for stays, apart from what a link changes. */

type Query = Record<string, string>;

/** A changed list starts at its first page, and repeats no message about an earlier write. */
const LEFT_OUT = new Set(["page", "cursor", "notice", "result", "picked"]);

/** The address of a list with one parameter changed; an empty value removes it. */
export function listLink(path: string, query: Query, name: string, value: string): string {
  const next = Object.entries({ ...query, [name]: value }).filter(([key, text]) => text !== "" && !LEFT_OUT.has(key));
  return next.length === 0 ? path : `${path}?${new URLSearchParams(next)}`;
}

/** `ordering` of the query if the list offers it. */
export function orderingIn({ ordering = "" }: Query, fields: readonly string[]): { ordering?: string } {
  return fields.includes(ordering.replace(/^-/, "")) ? { ordering } : {};
}
