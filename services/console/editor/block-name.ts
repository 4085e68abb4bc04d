/** Names of blocks in the outline and for screen readers. */
import { isKind } from "../../lib/design/blocks/fields.ts";
import { type Block, isSection } from "../../lib/design/design.ts";
import type { RichText } from "../../lib/design/fields.ts";
import { visual as t } from "../messages/visual.ts";
import { nameOf } from "./commands.ts";
import { labelOf, partsOf } from "./fields.ts";
import { wordsOf } from "./rich-value.ts";

const MAX_WORDS = 40;

const readable = (text: string): string =>
  partsOf(text)
    .map((part) => (typeof part === "string" ? part : labelOf(part.name)))
    .join("")
    .trim();

/** The first words of a block; empty if it has none. */
export function excerptOf(block: Block): string {
  if (block.type === "if" || block.type === "each") return labelOf(`${(block as { variable: string }).variable}`);
  if (isSection(block)) return block.columns.length > 1 ? t.columnsOf(block.columns.length) : "";
  if (!isKind(block.type)) return "";
  const { content, text, title, alt } = block as Record<string, unknown>;
  const words = content
    ? wordsOf(content as RichText)
    : [text, title, alt].find((one) => typeof one === "string" && one);
  const line = readable(`${words ?? ""}`);
  return line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS)}…` : line;
}

export function titleOf(block: Block): string {
  const excerpt = excerptOf(block);
  return excerpt === "" ? nameOf(block) : `${nameOf(block)}: ${excerpt}`;
}
