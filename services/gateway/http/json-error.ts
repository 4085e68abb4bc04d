/**
 * Finds the position of a syntax error in JSON (RFC 8259). The parser's own messages quote the text, which may contain
 * a password, and do not always give the position.
 */
type Expected = "value" | "value or ]" | "key or }" | "key" | ":" | ", or end" | "nothing";

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The end of the sticky expression's match at `at`; -1 without a match. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** The end of the string that begins at `at`, or `-1 - position` of its error. */
function endOfString(text: string, at: number): number {
  for (let i = at + 1; i < text.length; ) {
    const code = text.charCodeAt(i);
    if (code === 0x22) return i + 1;
    if (code < 0x20) return -i - 1;
    if (code !== 0x5c) i++;
    else {
      const end = endOf(ESCAPE, text, i);
      if (end < 0) return -i - 1;
      i = end;
    }
  }
  return -text.length - 1;
}

/** The offset of the first invalid character; the text's length if it ends too early. */
export function jsonErrorOffset(text: string): number {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  let at = 0;
  const close = () => {
    open.pop();
    expected = open.length === 0 ? "nothing" : ", or end";
  };
  for (;;) {
    at = endOf(SPACE, text, at);
    const character = text[at];
    if (character === undefined || expected === "nothing") return at;
    const within: "{" | "[" | undefined = open.at(-1);
    const closes = character === (within === "{" ? "}" : "]");
    if (expected === ":") {
      if (character !== ":") return at;
      expected = "value";
      at++;
    } else if (closes && (expected === ", or end" || expected === "value or ]" || expected === "key or }")) {
      close();
      at++;
    } else if (expected === ", or end") {
      if (character !== ",") return at;
      expected = within === "{" ? "key" : "value";
      at++;
    } else if (expected === "key" || expected === "key or }") {
      if (character !== '"') return at;
      at = endOfString(text, at);
      if (at < 0) return -at - 1;
      expected = ":";
    } else if (character === "{" || character === "[") {
      open.push(character);
      expected = character === "{" ? "key or }" : "value or ]";
      at++;
    } else {
      const end = character === '"' ? endOfString(text, at) : endOf(SCALAR, text, at);
      if (end < 0) return character === '"' ? -end - 1 : at;
      at = end;
      expected = open.length === 0 ? "nothing" : ", or end";
    }
  }
}

/** "line 2, column 5", both counted from 1. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return `line ${before.split("\n").length}, column ${offset - lineStart + 1}`;
}
