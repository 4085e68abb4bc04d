/**
 * Writes the rules of a template's style sheets into the `style` of its elements, for mail programs that read no sheets.
 * Juice decides what applies to which element; what it says is written into the template as it stands, so that everything
 * else stays to the byte: blocks that hold half an element, conditional comments, what no parser would repair alike.
 */
import juice from "juice/client.js";
import { htmlparser2 } from "../at-first-use.ts";
import { TagsAside } from "../template/tags-aside.ts";
import { type Change, changed, insertion } from "../text-changes.ts";
import { keptCss } from "./kept-css.ts";

const NUMBER = "data-flockmail-no";
/** Hides an element's style from Juice. */
const OWN_STYLE = "data-flockmail-style";
/** Sheets that have it are neither applied nor changed: Juice's own name for it. */
const EMBED = "data-embed";

interface Span {
  start: number;
  end: number;
}

interface Element {
  name: string;
  /** Where attributes may be added. */
  at: number;
  attributes: Record<string, string>;
  style: Span | null;
  /** Of a sheet. */
  content: Span | null;
}

function elementsOf(html: string): Element[] {
  const elements: Element[] = [];
  let style: Span | null = null;
  let sheet: Element | null = null;
  const parser = new (htmlparser2().Parser)(
    {
      onopentagname() {
        style = null;
      },
      onattribute(name) {
        if (name === "style") style ??= { start: parser.startIndex, end: parser.endIndex };
      },
      onopentag(name, attributes) {
        const element = { name, at: parser.startIndex + 1 + name.length, attributes, style, content: null };
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

/** The style of each numbered element, where it has one. */
function stylesIn(html: string): Map<number, string> {
  const styles = new Map<number, string>();
  const parser = new (htmlparser2().Parser)(
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

const escaped = (style: string) => style.trim().replaceAll("&", "&amp;").replaceAll('"', "&quot;");

const WHOLE_SCREEN = /^\s*(?:all|screen)?\s*$/i;

interface Options {
  /** Applied too, and written nowhere else. */
  extraCss?: string;
  /** False: the template's own sheets are neither applied nor changed. */
  appliesSheets?: boolean;
}

/** A template without syntax errors, with styles in its elements. */
export function withInlinedCss(template: string, { extraCss = "", appliesSheets = true }: Options = {}): string {
  const tags = new TagsAside(template);
  const { text } = tags;
  const elements = elementsOf(text);
  const contentOf = ({ content }: Element) => (content ? text.slice(content.start, content.end) : "");
  const isApplied = (sheet: Element) =>
    appliesSheets &&
    !(EMBED in sheet.attributes) &&
    WHOLE_SCREEN.test(sheet.attributes.media ?? "") &&
    tags.blocksIn(contentOf(sheet)).length === 0;
  // Which rules apply is known only for each recipient: the sheets themselves decide it there.
  const isOpen = ({ attributes }: Element) => tags.hasTag(`${attributes.class ?? ""}${attributes.id ?? ""}`);
  const hidesStyle = ({ attributes }: Element) => tags.blocksIn(attributes.style ?? "").length > 0;

  const numbered = elements.flatMap((element, no): Change[] => {
    const embed = element.name === "style" && !isApplied(element) ? ` ${EMBED}` : "";
    const number = insertion(element.at, ` ${NUMBER}="${no}"${embed}`);
    if (!element.style || !hidesStyle(element)) return [number];
    const { start } = element.style;
    return [number, { start, end: start + "style".length, text: OWN_STYLE }];
  });
  const styled = stylesIn(
    juice(changed(text, numbered), {
      extraCss,
      insertPreservedExtraCss: false,
      removeStyleTags: false,
      applyWidthAttributes: false,
      applyHeightAttributes: false,
      applyAttributesTableElements: false,
      decodeStyleAttributes: true,
    }),
  );

  const keepsSheets = elements.some(isOpen);
  const changes = elements.flatMap((element, no): Change[] => {
    const { name, content, style, attributes, at } = element;
    if (name === "style" && content && isApplied(element) && !keepsSheets) {
      const kept = keptCss(contentOf(element));
      return [{ ...content, text: kept && `\n${kept}\n` }];
    }
    const given = styled.get(no);
    if (given === undefined || isOpen(element)) return [];
    if (!style) return [insertion(at, ` style="${escaped(given)}"`)];
    if (!hidesStyle(element)) return [{ ...style, text: `style="${escaped(given)}"` }];
    const own = (attributes.style ?? "").replaceAll('"', "&quot;");
    return [{ ...style, text: `style="${escaped(given)} ${own}"` }];
  });
  return tags.restored(changed(text, changes));
}
