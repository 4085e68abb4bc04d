/** Skips style sheets and scripts, where braces and percent signs are not placeholders. */
const OPENS = /<(style|script)\b/gi;

/** Replaces each part of the source outside style sheets and scripts. Linear time: an unclosed element ends it. */
export function outsideOfRawText(source: string, change: (part: string) => string): string {
  let out = "";
  let at = 0;
  OPENS.lastIndex = 0;
  for (let open = OPENS.exec(source); open; open = OPENS.exec(source)) {
    const close = new RegExp(`</${open[1]}`, "gi");
    close.lastIndex = OPENS.lastIndex;
    const end = close.exec(source) ? close.lastIndex : source.length;
    out += change(source.slice(at, open.index)) + source.slice(open.index, end);
    at = end;
    OPENS.lastIndex = end;
  }
  return out + change(source.slice(at));
}
