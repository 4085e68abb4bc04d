/** Texts while they are edited. Names of nodes and marks are those of the document; variables are nodes only here. */
import { type DOMOutputSpec, type MarkSpec, type NodeSpec, type Node as RichNode, Schema } from "prosemirror-model";
import { type Brand, colourOf } from "../../lib/design/brand.ts";
import { type Field, labelOf } from "./fields.ts";

const field: NodeSpec = {
  group: "inline",
  inline: true,
  atom: true,
  attrs: { name: {}, fallback: { default: "" } },
  toDOM: ({ attrs }): DOMOutputSpec => [
    "span",
    { class: "field-chip", "data-field": attrs.name as string, "data-fallback": attrs.fallback as string },
    labelOf(attrs.name as string),
  ],
  parseDOM: [
    {
      tag: "span[data-field]",
      getAttrs: (element) => ({ name: element.dataset.field, fallback: element.dataset.fallback ?? "" }),
    },
  ],
  leafText: ({ attrs }) => `[[${attrs.name}]]`,
};

const text: NodeSpec = { group: "inline" };

/** One line, such as a heading or a button. */
export const lineSchema = new Schema({ nodes: { doc: { content: "inline*" }, text, field } });

const mark = (...tags: string[]): MarkSpec => ({
  toDOM: (): DOMOutputSpec => [tags[0]!, 0],
  parseDOM: tags.map((tag) => ({ tag })),
});

/** Alignments are attributes of classes' names: a style attribute would be blocked. */
const paragraph: NodeSpec = {
  content: "inline*",
  group: "block",
  attrs: { align: { default: null } },
  toDOM: ({ attrs }): DOMOutputSpec => ["p", attrs.align ? { class: `to-${attrs.align}` } : {}, 0],
  parseDOM: ["p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "blockquote", "pre"].map((tag) => ({
    tag,
    getAttrs: (element: HTMLElement) => ({ align: /\bto-(left|center|right)\b/.exec(element.className)?.[1] ?? null }),
  })),
};

const list = (tag: string): NodeSpec => ({
  content: "item+",
  group: "block",
  toDOM: (): DOMOutputSpec => [tag, 0],
  parseDOM: [{ tag }],
});

const richSchemaOf = (brand: Brand) =>
  new Schema({
    nodes: {
      doc: { content: "block+" },
      paragraph,
      bullets: list("ul"),
      numbers: list("ol"),
      item: { content: "paragraph+", defining: true, toDOM: (): DOMOutputSpec => ["li", 0], parseDOM: [{ tag: "li" }] },
      text,
      break: {
        group: "inline",
        inline: true,
        selectable: false,
        toDOM: (): DOMOutputSpec => ["br"],
        parseDOM: [{ tag: "br" }],
      },
      field,
    },
    marks: {
      link: {
        attrs: { href: {} },
        inclusive: false,
        toDOM: ({ attrs }): DOMOutputSpec => ["a", { href: attrs.href as string, title: attrs.href as string }, 0],
        parseDOM: [{ tag: "a[href]", getAttrs: (element) => ({ href: element.getAttribute("href") }) }],
      },
      colour: {
        attrs: { value: {} },
        toDOM: ({ attrs }): DOMOutputSpec => {
          const dom = document.createElement("span");
          dom.dataset.colour = attrs.value as string;
          dom.style.color = colourOf(attrs.value as string, brand) ?? "";
          return { dom, contentDOM: dom };
        },
        parseDOM: [{ tag: "span[data-colour]", getAttrs: (element) => ({ value: element.dataset.colour }) }],
      },
      bold: mark("strong", "b"),
      italic: mark("em", "i"),
      underline: mark("u"),
      strike: mark("s", "strike", "del"),
    },
  });

let made: ReturnType<typeof richSchemaOf> | undefined;

/** One for all texts, so that what is copied from one can be pasted into another. */
export function richSchema(brand: Brand): ReturnType<typeof richSchemaOf> {
  made ??= richSchemaOf(brand);
  return made;
}

export const fieldNode = (schema: Schema, given: Field): RichNode => schema.nodes.field!.create(given);
