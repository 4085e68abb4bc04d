/** Texts of the document as the text editor's nodes, and back. Reading and writing a text changes nothing. */
import type { Node as RichNode, Schema } from "prosemirror-model";
import type { Inline, Mark, RichText } from "../../lib/design/fields.ts";
import { type Field, partsOf, tagOf } from "./fields.ts";

interface NodeJson {
  type: string;
  text?: string;
  attrs?: Record<string, unknown>;
  marks?: Mark[];
  content?: NodeJson[];
}

function withFields(node: NodeJson): NodeJson[] {
  if (node.type !== "text")
    return [{ ...node, ...(node.content ? { content: node.content.flatMap(withFields) } : {}) }];
  const marks = node.marks ? { marks: node.marks } : {};
  return partsOf(node.text!).map((part) =>
    typeof part === "string" ? { type: "text", text: part, ...marks } : { type: "field", attrs: { ...part }, ...marks },
  );
}

const isSameMarks = (one: NodeJson, other: NodeJson): boolean =>
  JSON.stringify(one.marks ?? []) === JSON.stringify(other.marks ?? []);

/** Joins texts that were split at variables. */
function joined(nodes: NodeJson[]): NodeJson[] {
  const all: NodeJson[] = [];
  for (const node of nodes) {
    const last = all.at(-1);
    if (last?.type === "text" && node.type === "text" && isSameMarks(last, node)) {
      all[all.length - 1] = { ...last, text: `${last.text}${node.text}` };
    } else all.push(node);
  }
  return all;
}

function withoutFields({ type, text, attrs, marks, content }: NodeJson): NodeJson {
  const more = marks && marks.length > 0 ? { marks } : {};
  if (type === "field") return { type: "text", text: tagOf(attrs as unknown as Field), ...more };
  if (type === "text") return { type, text: text!, ...more };
  const set = Object.entries(attrs ?? {}).filter(([, value]) => value !== null);
  return {
    type,
    ...(set.length > 0 ? { attrs: Object.fromEntries(set) } : {}),
    ...more,
    ...(content ? { content: joined(content.map(withoutFields)) } : {}),
  };
}

export const richNode = (schema: Schema, value: RichText): RichNode =>
  schema.nodeFromJSON(withFields(value as unknown as NodeJson)[0]!);

export const richValue = (doc: RichNode): RichText => withoutFields(doc.toJSON() as NodeJson) as unknown as RichText;

export function lineNode(schema: Schema, value: string): RichNode {
  const content = partsOf(value).map((part) =>
    typeof part === "string" ? schema.text(part) : schema.nodes.field!.create(part),
  );
  return schema.node("doc", null, content);
}

export function lineValue(doc: RichNode): string {
  let line = "";
  doc.forEach((node) => {
    line += node.isText ? node.text : tagOf(node.attrs as Field);
  });
  return line;
}

/** The words of a text, for names of blocks. */
export function wordsOf({ content }: RichText): string {
  const inline = (nodes: readonly Inline[] = []) => nodes.map(({ text = " " }) => text).join("");
  return content
    .map((one) =>
      one.type === "paragraph"
        ? inline(one.content)
        : one.content.map((item) => item.content.map((p) => inline(p.content)).join(" ")).join(" "),
    )
    .join(" ");
}
