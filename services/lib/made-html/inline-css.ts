/**
 * Inlines a template's CSS into `style` attributes, for email clients that ignore style sheets. Juice decides what
 * applies to which element; its result is inserted into the original text, so that everything else stays byte for byte:
 * blocks with half an element, conditional comments, markup that parsers repair differently.
 */

import { Parser } from "htmlparser2";
import juice from "juice/client.js";
import { declarationsIn } from "../css-declarations.ts";
import { TagsAside } from "../template/tags-aside.ts";
import { type Change, changed, insertion } from "../text-changes.ts";
import { keptCss } from "./kept-css.ts";

const NUMBER = "data-flockmail-no";
/** Hides an element's style from Juice. */
const OWN_STYLE = "data-flockmail-style";
/** Juice's own marker: sheets that have it are neither applied nor changed. */
const EMBED = "data-embed";

interface Span {
  start: number;
  end: number;
}

interface Element {
  name: string;
  /** Position at which attributes may be added. */
  at: number;
  attributes: Record<string, string>;
  style: Span | null;
  /** The whole `class` attribute. */
  classes: Span | null;
  /** Content of a sheet. */
  content: Span | null;
}

function elementsOf(html: string): Element[] {
  const elements: Element[] = [];
  let style: Span | null = null;
  let classes: Span | null = null;
  let sheet: Element | null = null;
  const parser = new Parser(
    {
      onopentagname() {
        style = null;
        classes = null;
      },
      onattribute(name) {
        if (name === "class") classes ??= { start: parser.startIndex, end: parser.endIndex };
        if (name === "style") style ??= { start: parser.startIndex, end: parser.endIndex };
      },
      onopentag(name, attributes) {
        const element = { name, at: parser.startIndex + 1 + name.length, attributes, style, classes, content: null };
        elements.push(element);
        sheet = name === "style" ? element : null;
      },
      ontext() {
        if (!sheet) return;
        sheet.content = { start: sheet.content?.start ?? parser.startIndex, end: parser.endIndex + 1 };
      },
      onclosetag() {
        sheet = null;
      },
    },
    { decodeEntities: false },
  );
  parser.end(html);
  return elements;
}

/** Style of each numbered element, if any. */
function stylesIn(html: string): Map<number, string> {
  const styles = new Map<number, string>();
  const parser = new Parser(
    {
      onopentag(_name, attributes) {
        const no = attributes[NUMBER];
        if (no !== undefined && attributes.style !== undefined) styles.set(Number(no), attributes.style);
      },
    },
    { decodeEntities: false },
  );
  parser.end(html);
  return styles;
}

const stylesOf = (html: string, extraCss: string): Map<number, string> =>
  stylesIn(
    juice(html, {
      extraCss,
      insertPreservedExtraCss: false,
      removeStyleTags: false,
      applyWidthAttributes: false,
      applyHeightAttributes: false,
      applyAttributesTableElements: false,
      decodeStyleAttributes: true,
    }),
  );

interface Names {
  classes: string[];
  ids: string[];
}
const NO_NAMES: Names = { classes: [], ids: [] };
const DECLARATIONS = /\{[^{}]*\}/g;

/** Classes and ids used in the style sheets' selectors. */
function namesIn(css: string): Names {
  const selectors = css.replace(DECLARATIONS, "{}");
  const all = (mark: string) => [
    ...new Set([...selectors.matchAll(new RegExp(`${mark}(-?[_a-z][\\w-]*)`, "gi"))].map(([, name]) => name!)),
  ];
  return { classes: all("\\."), ids: all("#") };
}

/** Changes that add all these classes to each element with a variable class or id. */
function withClasses(
  changes: readonly Change[],
  elements: readonly Element[],
  isOpen: (element: Element) => boolean,
  classes: readonly string[],
): Change[] {
  const more = elements.filter(isOpen).flatMap(({ classes: attribute, attributes }): Change[] => {
    if (!attribute) return [];
    const all = [attributes.class, ...classes].join(" ").replaceAll('"', "&quot;");
    return [{ ...attribute, text: `class="${all}"` }];
  });
  return [...changes, ...more].toSorted((a, b) => a.start - b.start);
}

const namedDeclarations = (style: string): [property: string, declaration: string][] =>
  declarationsIn(style)
    .filter((text) => text.includes(":"))
    .map((text) => [text.slice(0, text.indexOf(":")).trim().toLowerCase(), text]);

const isPartOf = (one: string, other: string) => one === other || one.startsWith(`${other}-`);

/**
 * Declarations that hold for all variable values: none of a property that variables may set, nor of its shorthands or
 * parts.
 */
function constantDeclarations(style: string | undefined, fully: string | undefined): string | undefined {
  if (style === undefined || fully === undefined || style === fully) return style;
  const own = namedDeclarations(style);
  const known = new Set(own.map(([, declaration]) => declaration));
  const open = namedDeclarations(fully).filter(([, declaration]) => !known.has(declaration));
  const kept = own.filter(([name]) => !open.some(([other]) => isPartOf(name, other) || isPartOf(other, name)));
  return kept.length === 0 ? undefined : `${kept.map(([, declaration]) => declaration).join("; ")};`;
}

const escaped = (style: string) => style.trim().replaceAll("&", "&amp;").replaceAll('"', "&quot;");

const WHOLE_SCREEN = /^\s*(?:all|screen)?\s*$/i;

interface Options {
  /** CSS that is inlined but not added to a style sheet. */
  extraCss?: string;
  /** False: keeps the template's own sheets and does not apply them. */
  appliesSheets?: boolean;
}

/**
 * Inlines CSS. `template` must have no syntax errors. Juice fails on damaged CSS: styles of elements are then kept from
 * it, which changes nothing, because they win over sheets; if the sheets themselves are damaged, nothing is inlined.
 */
export function withInlinedCss(template: string, options: Options = {}): string {
  for (const hidesStyles of [false, true]) {
    try {
      return inlined(template, { ...options, hidesStyles });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return template;
}

function inlined(
  template: string,
  { extraCss = "", appliesSheets = true, hidesStyles }: Options & { hidesStyles: boolean },
): string {
  const tags = new TagsAside(template);
  const { text } = tags;
  const elements = elementsOf(text);
  const contentOf = ({ content }: Element) => (content ? text.slice(content.start, content.end) : "");
  const isApplied = (sheet: Element) =>
    appliesSheets &&
    !(EMBED in sheet.attributes) &&
    WHOLE_SCREEN.test(sheet.attributes.media ?? "") &&
    tags.blocksIn(contentOf(sheet)).length === 0;
  // Rules of a variable class or id are known only per recipient: the sheets themselves apply there.
  const isOpen = ({ attributes }: Element) => tags.hasTag(`${attributes.class ?? ""}${attributes.id ?? ""}`);
  const keepsSheets = elements.some(isOpen);
  const names = keepsSheets ? namesIn(elements.filter(isApplied).map(contentOf).join("\n") + extraCss) : NO_NAMES;
  const mayBeAnyId = ({ attributes: { id } }: Element) =>
    id !== undefined && tags.hasTag(id) && names.ids.some((name) => tags.mayBecome(id, name));
  const hidesStyle = ({ attributes }: Element) => hidesStyles || tags.blocksIn(attributes.style ?? "").length > 0;

  const numbered = elements.flatMap((element, no): Change[] => {
    const embed = element.name === "style" && !isApplied(element) ? ` ${EMBED}` : "";
    const number = insertion(element.at, ` ${NUMBER}="${no}"${embed}`);
    if (!element.style || !hidesStyle(element)) return [number];
    const { start } = element.style;
    return [number, { start, end: start + "style".length, text: OWN_STYLE }];
  });
  const styled = stylesOf(changed(text, numbered), extraCss);
  // Tests with every class that a variable might set: properties that change must be left to the sheets.
  const fully = keepsSheets
    ? stylesOf(changed(text, withClasses(numbered, elements, isOpen, names.classes)), extraCss)
    : styled;

  const changes = elements.flatMap((element, no): Change[] => {
    const { name, content, style, attributes, at } = element;
    if (name === "style" && content && isApplied(element) && !keepsSheets) {
      const kept = keptCss(contentOf(element));
      return [{ ...content, text: kept && `\n${kept}\n` }];
    }
    const given = constantDeclarations(styled.get(no), fully.get(no));
    if (given === undefined || mayBeAnyId(element)) return [];
    if (!style) return [insertion(at, ` style="${escaped(given)}"`)];
    if (!hidesStyle(element)) return [{ ...style, text: `style="${escaped(given)}"` }];
    const own = (attributes.style ?? "").replaceAll('"', "&quot;");
    return [{ ...style, text: `style="${escaped(given)} ${own}"` }];
  });
  return tags.restored(changed(text, changes));
}
