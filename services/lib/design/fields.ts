/**
 * The settings of a block as data. A block's JSON Schema, its defaults, its checks and the editor's form are all made
 * from these, so that a new setting is written once. Imported by browser code: no imports of Node here.
 */

/** Text may contain `[[variables]]`. */
interface Line {
  kind: "line";
  maxLength: number;
  default: string;
}
/** Paragraphs and lists with marks (rich-text.ts). */
interface Rich {
  kind: "rich";
}
/** HTML of the author's own, with everything that a template's body may contain. */
interface Html {
  kind: "html";
}
/** Address of a link or image: http, https, for links also mailto and tel, or starting with a variable. Empty: none. */
interface Address {
  kind: "link" | "image";
  default: string;
}
/** `#rrggbb`, or the name of one of the brand's colours; empty: the block's usual one. */
interface Colour {
  kind: "colour";
  default: string;
}
interface Pixels {
  kind: "pixels";
  minimum: number;
  maximum: number;
  default: number;
}
interface Choice<V extends string = string> {
  kind: "choice";
  values: readonly V[];
  default: V;
}
interface Flag {
  kind: "flag";
  default: boolean;
}
/** Entries with settings of their own, such as the rows of a table. */
interface Items<F extends Fields = Fields> {
  kind: "items";
  fields: F;
  minimum: number;
  maximum: number;
}

export type Field = Line | Rich | Html | Address | Colour | Pixels | Choice | Flag | Items;
export interface Fields {
  readonly [name: string]: Field;
}

export const line = (text = "", maxLength = 500): Line => ({ kind: "line", maxLength, default: text });
export const rich = (): Rich => ({ kind: "rich" });
export const html = (): Html => ({ kind: "html" });
export const link = (address = ""): Address => ({ kind: "link", default: address });
export const image = (): Address => ({ kind: "image", default: "" });
export const colour = (value = ""): Colour => ({ kind: "colour", default: value });
export const pixels = (value: number, maximum: number, minimum = 0): Pixels => ({
  kind: "pixels",
  minimum,
  maximum,
  default: value,
});
export const choice = <const V extends string>(...values: readonly [V, ...V[]]): Choice<V> => ({
  kind: "choice",
  values,
  default: values[0],
});
export const flag = (value = false): Flag => ({ kind: "flag", default: value });
export const items = <const F extends Fields>(fields: F, maximum: number, minimum = 1): Items<F> => ({
  kind: "items",
  fields,
  minimum,
  maximum,
});

export const align = () => choice("left", "center", "right");

type ValueOf<F extends Field> = F extends Rich
  ? RichText
  : F extends Pixels
    ? number
    : F extends Flag
      ? boolean
      : F extends Items<infer G>
        ? ValuesOf<G>[]
        : F extends Choice<infer V>
          ? V
          : string;
/** The settings of a block with its defaults filled in. */
export type ValuesOf<F extends Fields> = { [K in keyof F]: ValueOf<F[K]> };

/** ProseMirror's JSON for the nodes and marks of rich-text.ts. */
export interface Mark {
  type: "bold" | "italic" | "underline" | "strike" | "link" | "colour";
  attrs?: { href?: string; value?: string };
}
export interface Inline {
  type: "text" | "break";
  text?: string;
  marks?: Mark[];
}
export interface Paragraph {
  type: "paragraph";
  attrs?: { align?: "left" | "center" | "right" };
  content?: Inline[];
}
export interface RichList {
  type: "bullets" | "numbers";
  content: { type: "item"; content: Paragraph[] }[];
}
export interface RichText {
  type: "doc";
  content: (Paragraph | RichList)[];
}

export const EMPTY_TEXT: RichText = { type: "doc", content: [{ type: "paragraph" }] };

/** The values with defaults where the document has none. */
export function filled<F extends Fields>(fields: F, values: Readonly<Record<string, unknown>>): ValuesOf<F> {
  const entries = Object.entries(fields).map(([name, field]) => {
    const value = values[name];
    if (field.kind === "items") {
      return [name, ((value ?? []) as Record<string, unknown>[]).map((one) => filled(field.fields, one))];
    }
    if (value !== undefined) return [name, value];
    if (field.kind === "rich") return [name, EMPTY_TEXT];
    return [name, field.kind === "html" ? "" : field.default];
  });
  return Object.fromEntries(entries);
}
