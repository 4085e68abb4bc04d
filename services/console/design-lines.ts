/** A design as readable lines, one for each block and setting, to compare versions. Pure. */
import { type Block, type Design, isCondition, isLoop, isSection } from "../lib/design/design.ts";
import { messages } from "./messages.ts";

/** Words and numbers in a value, without the names of nodes and marks. */
function wordsOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return `${value}`;
  const parts = Array.isArray(value)
    ? value
    : Object.entries(value).flatMap(([key, one]) => (key === "type" ? [] : one));
  return parts.map(wordsOf).filter(Boolean).join(" ");
}

const NESTED: readonly string[] = ["type", "blocks", "else", "columns"];

const settingLines = (values: object): string[] =>
  Object.entries(values)
    .filter(([name]) => !NESTED.includes(name))
    .map(([name, value]) => {
      const { labels } = messages.visual;
      return `${labels[name as keyof typeof labels] ?? name}: ${wordsOf(value)}`;
    });

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

function blockLines(block: Block): string[] {
  const { kinds, column, otherwise } = messages.visual;
  const inner = (blocks: readonly Block[]) => blocks.flatMap(blockLines);
  const nested = isSection(block)
    ? block.columns.flatMap(({ blocks, ...own }, no) => [
        column(no + 1),
        ...indented([...settingLines(own), ...inner(blocks)]),
      ])
    : isCondition(block) || isLoop(block)
      ? inner(block.blocks)
      : [];
  return [
    kinds[block.type as keyof typeof kinds] ?? block.type,
    ...indented([...settingLines(block), ...nested]),
    ...(isCondition(block) && block.else ? [otherwise, ...indented(inner(block.else))] : []),
  ];
}

export const linesOf = ({ settings = {}, blocks }: Design): string =>
  [...settingLines(settings), ...blocks.flatMap(blockLines)].join("\n");
