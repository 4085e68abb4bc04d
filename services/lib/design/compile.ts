/** MJML and plain text of a valid design. The MJML becomes HTML as that of an MJML template does. */
import { BLOCKS, isKind } from "./blocks/fields.ts";
import { MAILS } from "./blocks/mails.ts";
import { type Brand, colourOf, FONTS } from "./brand.ts";
import { type Block, type Design, isCondition, isLoop, isSaved, isSection, SECTION, SETTINGS } from "./design.ts";
import { filled } from "./fields.ts";
import { attributes, blockMark } from "./markup.ts";

export interface Source {
  brand: Brand;
  /** Blocks by the ids of saved ones; these refer to no others. */
  saved: ReadonlyMap<string, readonly Block[]>;
  /** Paths by block, for a check: each block's HTML then follows a comment with its path. */
  paths?: ReadonlyMap<Block, string>;
}

type Around = (block: Block) => string;

/** A condition or loop around what `inside` makes of its blocks; undefined for other blocks. */
function aroundBlocks(block: Block, { saved }: Source, inside: Around, joint = ""): string | undefined {
  const all = (blocks: readonly Block[]) => blocks.map(inside).filter(Boolean).join(joint);
  if (isSaved(block)) return all(saved.get(block.id.toLowerCase()) ?? []);
  if (isLoop(block)) return `[[#each ${block.variable}]]${all(block.blocks)}${joint}[[/each]]`;
  if (!isCondition(block)) return undefined;
  const other = block.else && block.else.length > 0 ? `[[#else]]${all(block.else)}` : "";
  return `[[#if ${block.variable}]]${all(block.blocks)}${other}[[/if]]`;
}

const markOf = (block: Block, { paths }: Source): string => {
  const path = paths?.get(block);
  return path === undefined ? "" : blockMark(path);
};

const leafMjml = (block: Block, source: Source): string => markOf(block, source) + unmarkedLeaf(block, source);

function unmarkedLeaf(block: Block, source: Source): string {
  const around = aroundBlocks(block, source, (one) => leafMjml(one, source));
  if (around !== undefined || !isKind(block.type)) return around ?? "";
  return MAILS[block.type].mjml(filled(BLOCKS[block.type], block as Record<string, unknown>), source.brand);
}

const sectionMjml = (block: Block, source: Source): string => markOf(block, source) + unmarkedSection(block, source);

function unmarkedSection(block: Block, source: Source): string {
  const around = aroundBlocks(block, source, (one) => sectionMjml(one, source));
  if (around !== undefined || !isSection(block)) return around ?? "";
  const { background, padding, stack, vertical } = filled(SECTION, block);
  const shares = block.columns.map(({ share = 1 }) => share);
  const sum = shares.reduce((a, b) => a + b, 0);
  const columns = block.columns.map(({ blocks }, no) => {
    const width = `${Math.round((shares[no]! / sum) * 10_000) / 100}%`;
    const inner = blocks.map((one) => leafMjml(one, source)).join("");
    return `<mj-column width="${width}" vertical-align="${vertical}">${inner}</mj-column>`;
  });
  const look = attributes({ "background-color": colourOf(background, source.brand), padding: `${padding}px 0` });
  const inner = stack ? columns.join("") : `<mj-group>${columns.join("")}</mj-group>`;
  return `<mj-section${look}>${inner}</mj-section>`;
}

export function mjmlOf({ settings = {}, blocks }: Design, source: Source): string {
  const { brand } = source;
  const { width, background, content_background, text_color, link_color, language } = filled(SETTINGS, settings);
  const text = colourOf(text_color, brand);
  const head = [
    `<mj-all${attributes({ "font-family": FONTS[brand.font] })} />`,
    `<mj-text${attributes({ color: text })} font-size="16px" line-height="1.5" padding="8px 24px" />`,
    `<mj-table${attributes({ color: text })} font-size="16px" line-height="1.5" padding="8px 24px" />`,
    '<mj-image padding="8px 24px" /><mj-button padding="8px 24px" /><mj-divider padding="12px 24px" />',
    `<mj-section${attributes({ "background-color": colourOf(content_background, brand) })} />`,
  ].join("");
  const links = `<mj-style inline="inline">a { color: ${colourOf(link_color, brand) ?? "#0b6b72"}; }</mj-style>`;
  const body = attributes({ width: `${width}px`, "background-color": colourOf(background, brand) });
  const parts = blocks.map((block) => sectionMjml(block, source)).join("");
  return `<mjml${attributes({ lang: language })}><mj-head><mj-attributes>${head}</mj-attributes>${links}</mj-head><mj-body${body}>${parts}</mj-body></mjml>`;
}

function blockText(block: Block, source: Source): string {
  const around = aroundBlocks(block, source, (one) => blockText(one, source), "\n\n");
  if (around !== undefined) return around;
  if (isSection(block)) {
    return block.columns
      .flatMap(({ blocks }) => blocks.map((one) => blockText(one, source)))
      .filter(Boolean)
      .join("\n\n");
  }
  if (!isKind(block.type)) return "";
  return MAILS[block.type].text(filled(BLOCKS[block.type], block as Record<string, unknown>), source.brand);
}

/** The text part as a template; a template's own `text_body` wins over it. */
export const textOf = ({ blocks }: Design, source: Source): string =>
  blocks
    .map((block) => blockText(block, source))
    .filter(Boolean)
    .join("\n\n");
