/**
 * Cuts a template into text and tags. Only `[[…]]` means anything; the syntax of other engines is text.
 *
 *   [[name]] [[a.b]] [[[name]]]   a value, a field of an object, a value without escaping
 *   [[name|default:text]] [[name|urlencode]]   a default for an empty value; a value encoded for a URL
 *   [[#if name]] [[#else]] [[/if]]   [[#each items]] [[this]] [[this.field]] [[@index]] [[/each]]
 *   \[[                           two brackets
 *
 * Works in one pass and reads at most MAX_TAG characters ahead, so that no input makes it slow.
 */
interface ValueTag {
  type: "value";
  path: string;
  raw: boolean;
  /** Text used if the value is missing or empty. */
  defaultText?: string;
  /** Set by the template, or by the renderer for a value inside a URL; in a `mailto:` URL "@" stays. */
  urlEncoded?: true | "mailbox";
  at: number;
}

export type Tag =
  | ValueTag
  | { type: "if" | "each"; path: string; at: number }
  | { type: "else" | "endif" | "endeach"; at: number };
export type Token = { type: "text"; text: string; at: number } | Tag;

/** A syntax error; `at` counts characters from the start of the source. */
export interface TemplateError {
  sentence: string;
  at: number;
}

const MAX_TAG = 256;
const MAX_ERRORS = 10;
const MAX_STEPS = 16;

// A column name as people write it ("Größe", "Price (€)", "opt-in?"), with single spaces inside. Quotes, "=", "<" and
// similar belong to other engines and HTML and are reported as mistakes.
const PATH = /^@?[\p{L}\p{M}\p{N}\p{Sc}_()%&+:?!/*#°-]+(?:[ .][\p{L}\p{M}\p{N}\p{Sc}_()%&+:?!/*#°-]+)*$/u;
/** Links of every email, normalized to one spelling. */
const OWN_LINK = /^(?:unsubscribe_url|view_in_browser_url|preferences_url)$/i;
const spelled = (path: string) => (OWN_LINK.test(path) ? path.toLowerCase() : path);

const FORGOTTEN_HASH = /^(?:if|each) /;
const BLOCK = /^#(if|each)\s+(.*)$/s;

const isPath = (text: string) => PATH.test(text) && text.split(".").length <= MAX_STEPS;

const DEFAULT = /^default\s*:(.*)$/s;

/** A value's name with its "|" options, or an error sentence. */
function readValue(content: string, raw: boolean, at: number): ValueTag | string {
  const [name, ...filters] = content.split("|").map((part) => part.trim());
  const mistake = `"${content}" is not a variable's name`;
  if (!isPath(name!)) return mistake;
  const tag: ValueTag = { type: "value", path: spelled(name!), raw, at };
  for (const filter of filters) {
    const text = DEFAULT.exec(filter)?.[1]?.trim();
    if (filter === "urlencode") tag.urlEncoded = true;
    else if (text === undefined) return mistake;
    else tag.defaultText = text;
  }
  return tag;
}

/** The text between the brackets as a tag, or an error sentence. */
function readTag(content: string, at: number): Tag | string {
  if (content === "#else") return { type: "else", at };
  if (content === "/if") return { type: "endif", at };
  if (content === "/each") return { type: "endeach", at };
  const block = BLOCK.exec(content);
  if (block) {
    const path = block[2]!.trim();
    if (!isPath(path)) return `"${path}" is not a variable's name`;
    return { type: block[1] as "if" | "each", path: spelled(path), at };
  }
  if (content === "#if" || content === "#each") return `[[${content}]] needs a variable's name`;
  if (/^[#/]/.test(content)) return `Unknown tag [[${content}]]`;
  if (FORGOTTEN_HASH.test(content)) return `[[${content}]] lacks a "#": write [[#${content}]]`;
  if (content === "") return "Empty tag [[]]";
  return readValue(content, false, at);
}

/** The content of a tag that starts at `from` (after its brackets) and ends with `close`, or null. */
function upTo(source: string, from: number, close: string): string | null {
  const window = source.slice(from, from + MAX_TAG + close.length);
  const end = window.indexOf(close);
  return end < 0 ? null : window.slice(0, end);
}

export function tokenize(source: string): { tokens: Token[]; errors: TemplateError[] } {
  const tokens: Token[] = [];
  const errors: TemplateError[] = [];
  let text = "";
  let textAt = 0;
  let position = 0;

  const addTag = (tag: Tag) => {
    if (text) tokens.push({ type: "text", text, at: textAt });
    text = "";
    tokens.push(tag);
  };

  while (position < source.length && errors.length < MAX_ERRORS) {
    const open = source.indexOf("[[", position);
    if (text === "") textAt = position;
    if (open < 0) {
      text += source.slice(position);
      break;
    }
    if (open > position && source[open - 1] === "\\") {
      text += `${source.slice(position, open - 1)}[[`;
      position = open + 2;
      continue;
    }
    text += source.slice(position, open);
    if (source[open + 2] === "[") {
      const content = upTo(source, open + 3, "]]]");
      const tag = content === null ? "" : readValue(content.trim(), true, open);
      if (content !== null && typeof tag !== "string") {
        addTag(tag);
        position = open + 6 + content.length;
      } else {
        text += "[";
        position = open + 1;
      }
      continue;
    }
    const content = upTo(source, open + 2, "]]");
    if (content === null) {
      errors.push({ sentence: "[[ is never closed", at: open });
      position = open + 2;
      continue;
    }
    const tag = readTag(content.trim(), open);
    if (typeof tag === "string") errors.push({ sentence: tag, at: open });
    else addTag(tag);
    position = open + 4 + content.length;
  }
  if (text) tokens.push({ type: "text", text, at: textAt });
  return { tokens, errors };
}
