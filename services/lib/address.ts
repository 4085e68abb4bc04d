import { domainToASCII, domainToUnicode } from "node:url";

// RFC 5321 4.5.3.1: local part 64 octets, whole path 254. Quoted local parts and address literals are valid there,
// but no mailbox provider hands them out, and parsers that disagree about them send mail to the wrong domain.
const LOCAL = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const ASCII_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Labels of a host or DKIM key name: one label is enough, and underscores are allowed, unlike in mail domains. */
export const LABELS = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
/** `domainToASCII` parses a URL: it cuts path, query, fragment and port off, decodes `%61`, and drops line breaks. */
const URL_CHARACTERS = /[\s\p{Cc}/?#@:\\%]/u;

/** A host name in wire form (lower case, punycode), or null if the text is not a host name. */
export function asciiHost(text: string): string | null {
  const name = text.trim();
  if (URL_CHARACTERS.test(name)) return null;
  const ascii = domainToASCII(name);
  return ascii.length <= 253 && LABELS.test(ascii) ? ascii : null;
}

/** A domain in wire form (lower case, punycode), or null if it is invalid. */
export function asciiDomain(domain: string): string | null {
  const ascii = asciiHost(domain.trim().replace(/\.$/, ""));
  const labels = ascii?.split(".") ?? [];
  return labels.length >= 2 && labels.every((label) => ASCII_LABEL.test(label)) && !/^\d+$/.test(labels.at(-1)!)
    ? ascii
    : null;
}

/**
 * True for a domain in its normal spelling. URL parsers decode, cut and drop characters: to them `b.com/x`, `b%2ecom`, an
 * embedded line break and full-width letters are all `b.com`, and a suppression of `b.com` would not match them.
 */
function isMailDomain(domain: string): boolean {
  const ascii = asciiDomain(domain);
  if (ascii === null) return false;
  const given = domain.toLowerCase();
  return ascii === given || domainToUnicode(ascii) === given.normalize("NFC");
}

const MAX_CACHED = 1_000;
/**
 * Cache of validated domains: the addresses of a list share few, and checking them took a quarter of an import's CPU.
 */
const cache = new Map<string, boolean>();

function isKnownMailDomain(domain: string): boolean {
  const found = cache.get(domain);
  if (found !== undefined) return found;
  if (cache.size >= MAX_CACHED) cache.clear();
  const is = isMailDomain(domain);
  cache.set(domain, is);
  return is;
}

/** True for an address that Flockmail sends to: `local@domain`, Unicode allowed in both (RFC 6531). */
export function isAddress(value: string): boolean {
  const at = value.lastIndexOf("@");
  if (at < 1 || value.length > 254) return false;
  const local = value.slice(0, at);
  return Buffer.byteLength(local) <= 64 && LOCAL.test(local) && isKnownMailDomain(value.slice(at + 1));
}

// White space and invisible characters: zero width, direction marks, soft hyphen, byte order mark …
const UNSEEN = "[\\s\\p{Cf}\\p{Cc}\\p{Default_Ignorable_Code_Point}]";
const UNSEEN_START = new RegExp(`^${UNSEEN}+`, "u");
const IS_UNSEEN = new RegExp(`^${UNSEEN}$`, "u");
const UNSEEN_INSIDE = new RegExp(`(?! )${UNSEEN}`, "u");
const UNSEEN_HINT = /^\s|\s$|[^\x20-\x7e]/;

/** Length without invisible characters at the end. A loop: a pattern takes quadratic time on a long run of blanks before a letter. */
function seenLength(text: string): number {
  let end = text.length;
  while (end > 0) {
    const last = text.codePointAt(end - 2)! > 0xffff ? text.slice(end - 2, end) : text.slice(end - 1, end);
    if (!IS_UNSEEN.test(last)) break;
    end -= last.length;
  }
  return end;
}

/** Trims white space and invisible characters from a pasted address. */
export function addressText(given: string): string {
  if (!UNSEEN_HINT.test(given)) return given;
  const text = given.replace(UNSEEN_START, "");
  return text.slice(0, seenLength(text));
}

/** Error sentence for an invalid address. It names an invisible character inside, because the text looks right. */
export function addressError(given: unknown): string {
  const unseen = typeof given === "string" ? UNSEEN_INSIDE.exec(addressText(given))?.[0] : undefined;
  if (unseen === undefined) return "Enter a valid email address.";
  const code = unseen.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return `Enter a valid email address. It contains an invisible character (U+${code}).`;
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

/**
 * Canonical spelling of an address: lower case, with the domain in wire form. Returns anything that is not an address
 * unchanged.
 */
export function addressKey(address: string): string {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1);
  return `${address
    .slice(0, at + 1)
    .normalize("NFC")
    .toLowerCase()}${asciiDomain(domain) ?? domain.toLowerCase()}`;
}

/** True if both spellings mean the same mailbox. */
export const sameAddress = (a: string, b: string): boolean => a === b || addressKey(a) === addressKey(b);

/** Spellings in which an address may be stored: as given, with the domain in Unicode, and in wire form. */
export function addressVariants(address: string): string[] {
  const at = address.lastIndexOf("@");
  const ascii = asciiDomain(address.slice(at + 1));
  if (ascii === null) return [address];
  const local = address.slice(0, at + 1);
  return [...new Set([address, local + ascii, local + domainToUnicode(ascii)])];
}
