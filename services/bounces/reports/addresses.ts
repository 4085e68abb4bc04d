/** Finds email addresses in header fields and text. Every function runs in linear time. */

/** RFC 5321 allows 64 octets; VERP addresses of others exceed that. */
const MAX_LOCAL = 128;
/** Excludes control characters: PostgreSQL cannot store NUL, and the report would be retried forever. */
const LOCAL = /[^\s\p{C}<>"'`,;:()[\]\\@|]/u;
const QUOTED = /^"[^\p{C}"@]{1,126}"$/u;
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N}_-]{0,62})(?:\.[\p{L}\p{N}_-]{1,63}){0,10}/u;
const MAX_DOMAIN = 255;

/** Lower-cases the domain. */
function normalAddress(address: string): string {
  const at = address.lastIndexOf("@");
  return address.slice(0, at + 1) + address.slice(at + 1).toLowerCase();
}

export interface FoundAddress {
  address: string;
  /** Index in the text. */
  start: number;
}

export function* findAddresses(text: string): Generator<FoundAddress> {
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    let start = at;
    if (text[at - 1] === '"') {
      // Quoted local part.
      const quote = text.lastIndexOf('"', at - 2);
      if (quote >= 0 && at - quote <= MAX_LOCAL && QUOTED.test(text.slice(quote, at))) start = quote;
    } else {
      while (start > 0 && at - start < MAX_LOCAL && LOCAL.test(text[start - 1]!)) start -= 1;
    }
    const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + MAX_DOMAIN))?.[0].replace(/[._-]+$/, "");
    if (start === at || !domain?.includes(".")) continue;
    const local = text.slice(start, at).replace(/^(?:mailto|smtp)=|^[*.&-]+(?=.)/i, "");
    yield { address: normalAddress(`${local}@${domain}`), start };
  }
}

/** Returns the first address of a text such as `rfc822; <ann@example.com>` or `Ann <ann@example.com>`. */
export function firstAddress(text: string): string | null {
  for (const { address } of findAddresses(text.slice(0, 1_000))) return address;
  return null;
}

/** Returns the distinct addresses of header values. */
export function allAddresses(values: readonly string[], limit: number): string[] {
  const found = new Set<string>();
  for (const value of values) {
    for (const { address } of findAddresses(value.slice(0, 20_000))) {
      if (found.size >= limit) return [...found];
      found.add(address);
    }
  }
  return [...found];
}

/** Ignores case: local parts that differ only by case are rare. */
export const isSameAddress = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
