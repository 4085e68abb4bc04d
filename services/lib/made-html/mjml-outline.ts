/**
 * Scans an MJML source for elements, positions and mistakes. mrml reports no position for some mistakes, ignores
 * unknown elements, and parses HTML inside texts more strictly than MJML does, so these parts are hidden from it.
 */
import type { TemplateError } from "../template/lexer.ts";

/** Elements whose content is HTML, CSS or text to MJML. */
const RAW_CONTENT = new Set([
  "mj-accordion-text",
  "mj-accordion-title",
  "mj-button",
  "mj-navbar-link",
  "mj-preview",
  "mj-raw",
  "mj-social-element",
  "mj-style",
  "mj-table",
  "mj-text",
  "mj-title",
]);

const CONTAINERS = new Set([
  "mjml",
  "mj-head",
  "mj-body",
  "mj-accordion",
  "mj-accordion-element",
  "mj-attributes",
  "mj-carousel",
  "mj-class",
  "mj-column",
  "mj-group",
  "mj-hero",
  "mj-navbar",
  "mj-section",
  "mj-social",
  "mj-wrapper",
]);

const LEAVES = new Set([
  "mj-all",
  "mj-breakpoint",
  "mj-carousel-image",
  "mj-divider",
  "mj-font",
  "mj-image",
  "mj-spacer",
]);

/**
 * mj-carousel and a hamburger mj-navbar are allowed once: mrml gives every instance the same ids, so two would control
 * each other.
 */
const HAMBURGER = /\shamburger\s*=\s*["']hamburger/i;
const IMAGES = new Set(["mj-image", "mj-carousel-image", "mj-social-element"]);

/** Deeper nesting would exhaust mrml's stack; MJML's own rules allow seven. */
const MAX_DEPTH = 40;
/** A long newsletter has about a hundred elements; each produces up to 3 KB of HTML. */
const MAX_ELEMENTS = 5_000;
const MAX_TAG_LENGTH = 16_000;
/**
 * Attributes of `mj-attributes` and of enclosing elements are copied into each element, some of them more than once.
 */
const MAX_SPREAD = 20_000_000;
const MAX_ERRORS = 10;

interface Span {
  start: number;
  end: number;
}

export interface Raw extends Span {
  name: string;
  /** The start tag, as written. */
  tag: string;
  /** Position of the whole element. */
  element: Span;
}

export interface MjmlOutline {
  raws: Raw[];
  /** Text between components: white space, or text, which MJML does not allow there. */
  between: Span[];
  /**
   * Replacements of end tags for mrml, which supports neither `</mj-text >` nor an empty element with separate tags.
   */
  ends: (Span & { by: string })[];
  /**
   * Attribute values with characters that mrml would escape with a backslash: quotes, backslashes, invisible
   * characters.
   */
  values: Span[];
  /** Positions after the names of images without `alt`: MJML adds an empty one, mrml none. */
  withoutAlt: number[];
  errors: TemplateError[];
}

const MARKUP = /<!--|<!\[CDATA\[|<[!?]|<(\/?)([a-z][^\s/>]*)/gi;
const VALUE = /=\s*(?:"([^"]*)"|'([^']*)')/g;
const ESCAPED = /["\\]|[^ -~]/;
/** The rest of a tag to its ">", which may also occur in quotes. */
const TAG_REST = /(?:[^"'>]|"[^"]*"|'[^']*')*>/y;

interface Open extends Span {
  name: string;
}

class Outliner implements MjmlOutline {
  readonly raws: Raw[] = [];
  readonly between: Span[] = [];
  readonly ends: MjmlOutline["ends"] = [];
  readonly values: Span[] = [];
  readonly withoutAlt: number[] = [];
  readonly errors: TemplateError[] = [];
  readonly #source: string;
  readonly #open: Open[] = [];
  readonly #seenOnce = new Set<string>();
  #elements = 0;
  #longestTag = 0;
  #copiedLength = 0;

  constructor(source: string) {
    this.#source = source;
    const end = this.#scan();
    if (this.errors.length > 0) return;
    for (const { name, start } of this.#open) this.#fault(`<${name}> is never closed`, start);
    if (this.errors.length > 0) return;
    if (this.#elements === 0) this.#fault("An MJML template must start with <mjml>", 0);
    this.#between(end, source.length);
    if (this.#elements * Math.max(this.#longestTag, this.#copiedLength) > MAX_SPREAD) {
      this.#fault("Too many elements with too long attributes", 0);
    }
  }

  #fault(sentence: string, at: number): false {
    if (this.errors.length < MAX_ERRORS) this.errors.push({ sentence, at });
    return false;
  }

  #between(start: number, end: number): void {
    if (start < end) this.between.push({ start, end });
  }

  /** Returns the end of the last markup. */
  #scan(): number {
    const source = this.#source;
    let position = 0;
    MARKUP.lastIndex = 0;
    for (let match = MARKUP.exec(source); match; match = MARKUP.exec(source)) {
      const at = match.index;
      this.#between(position, at);
      const next = match[2] === undefined ? this.#other(match[0], at) : this.#tag(match[2], match[1] === "/", at);
      if (next === undefined || this.errors.length >= MAX_ERRORS) return source.length;
      position = next;
      MARKUP.lastIndex = next;
    }
    return position;
  }

  #other(opening: string, at: number): number | undefined {
    const close = { "<!--": "-->", "<![CDATA[": "]]>" }[opening];
    if (!close) {
      if (opening === "<?") return this.#endAfter("?>", at);
      this.#fault("Document types are not allowed in MJML", at);
      return undefined;
    }
    return this.#endAfter(close, at);
  }

  #endAfter(close: string, at: number): number | undefined {
    const end = this.#source.indexOf(close, at + 2);
    if (end >= 0) return end + close.length;
    this.#fault(`${close} is missing`, at);
    return undefined;
  }

  /**
   * Returns the end of the tag, or of the whole element if its content is raw; undefined if continuing makes no sense.
   */
  #tag(written: string, isClosing: boolean, at: number): number | undefined {
    const name = written.toLowerCase();
    TAG_REST.lastIndex = at + 1;
    const rest = TAG_REST.exec(this.#source);
    if (!rest) {
      this.#fault(`<${written}> has no end, or a quote in it has none`, at);
      return undefined;
    }
    const end = TAG_REST.lastIndex;
    if (isClosing) return this.#close(name, { start: at, end }) ? end : undefined;
    const tag = this.#source.slice(at, end);
    if (!this.#admit(name, written, tag, at)) return undefined;
    if (tag.endsWith("/>")) return end;
    if (!RAW_CONTENT.has(name)) {
      this.#open.push({ name, start: at, end });
      if (this.#open.length <= MAX_DEPTH) return end;
      this.#fault(`Elements nested deeper than ${MAX_DEPTH} levels`, at);
      return undefined;
    }
    const close = this.#closeOf(name, end);
    if (!close) {
      this.#fault(`<${name}> is never closed`, at);
      return undefined;
    }
    this.raws.push({ name, tag, start: end, end: close.start, element: { start: at, end: close.end } });
    this.#end(name, end, close);
    return close.end;
  }

  #closeOf(name: string, from: number): Span | undefined {
    const close = new RegExp(`</${name}\\s*>`, "gi");
    close.lastIndex = from;
    const match = close.exec(this.#source);
    return match ? { start: match.index, end: close.lastIndex } : undefined;
  }

  /** False if the rest cannot be parsed. */
  #admit(name: string, written: string, tag: string, at: number): boolean {
    if (this.#open.at(-1)?.name === "mj-attributes") this.#copiedLength += tag.length;
    this.#longestTag = Math.max(this.#longestTag, tag.length);
    if (this.#elements++ === 0 && name !== "mjml") return this.#fault("An MJML template must start with <mjml>", at);
    if (this.#elements > MAX_ELEMENTS) return this.#fault(`More than ${MAX_ELEMENTS} elements`, at);
    if (!name.startsWith("mj")) {
      return this.#fault(`<${written}> is HTML, which stands within <mj-text>, <mj-table> or <mj-raw>`, at);
    }
    if (tag.length > MAX_TAG_LENGTH) {
      this.#fault(`The attributes of <${written}> are longer than ${MAX_TAG_LENGTH} characters`, at);
    }
    for (const { index, 0: whole, 1: inDouble, 2: inSingle } of tag.matchAll(VALUE)) {
      const value = inDouble ?? inSingle ?? "";
      const end = at + index + whole.length - 1;
      if (ESCAPED.test(value)) this.values.push({ start: end - value.length, end });
    }
    if (name === "mj-carousel" || (name === "mj-navbar" && HAMBURGER.test(tag))) {
      if (this.#seenOnce.has(name)) this.#fault(`Only one <${name}> is allowed`, at);
      this.#seenOnce.add(name);
    }
    if (IMAGES.has(name) && !/\salt\s*=/i.test(tag)) this.withoutAlt.push(at + 1 + name.length);
    if (name === "mj-include") {
      this.#fault("<mj-include> is not supported: insert the included MJML instead", at);
    } else if (name !== written) {
      this.#fault(`<${written}> must be written in lower case`, at);
    } else if (!CONTAINERS.has(name) && !RAW_CONTENT.has(name) && !LEAVES.has(name)) {
      this.#fault(`Unknown element <${written}>`, at);
    }
    return true;
  }

  /** `contentAt`: end of the start tag. */
  #end(name: string, contentAt: number, close: Span): void {
    const isEmpty = this.#source.slice(contentAt, close.start).trim() === "";
    this.ends.push(isEmpty ? { start: contentAt - 1, end: close.end, by: "/>" } : { ...close, by: `</${name}>` });
  }

  #close(name: string, close: Span): boolean {
    const open = this.#open.at(-1);
    if (open?.name === name) {
      this.#open.pop();
      this.#end(name, open.end, close);
      return true;
    }
    const at = close.start;
    return this.#fault(open ? `</${name}> where <${open.name}> is open` : `</${name}> closes nothing`, at);
  }
}

export const mjmlOutlineOf = (source: string): MjmlOutline => new Outliner(source);
