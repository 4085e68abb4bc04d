/** Tag lists (RFC 6376 section 3.2), as DKIM keys and DMARC policies are written: `v=DMARC1; p=none`. */

/** Names in lower case, values without white space at their ends. Undefined where the text is no tag list. */
export function parseTags(text: string): Map<string, string> | undefined {
  const tags = new Map<string, string>();
  for (const part of text.split(";")) {
    if (part.trim() === "") continue;
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(at, 0)).trim().toLowerCase();
    // Two of one name: the receiver is to ignore all of it.
    if (!/^[a-z][a-z0-9_]*$/.test(name) || tags.has(name)) return undefined;
    tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}
