/** Parses tag lists (RFC 6376 section 3.2) of DKIM keys and DMARC policies: `v=DMARC1; p=none`. */

/** Names are lower-cased and values trimmed. Undefined if the text is not a tag list. */
export function parseTags(text: string): Map<string, string> | undefined {
  const tags = new Map<string, string>();
  for (const part of text.split(";")) {
    if (part.trim() === "") continue;
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(at, 0)).trim().toLowerCase();
    // Duplicate name: receivers must ignore the whole list.
    if (!/^[a-z][a-z0-9_]*$/.test(name) || tags.has(name)) return undefined;
    tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}
