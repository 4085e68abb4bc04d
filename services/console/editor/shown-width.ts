/** Width in pixels in which the mail shows the image of a block. */
import { type Design, SETTINGS, type Section } from "../../lib/design/design.ts";
import { filled } from "../../lib/design/fields.ts";
import { getAt, type Path } from "./tree.ts";

/** Beside an image, at both sides (lib/design/compile.ts). */
const PADDING = 48;

/** `width`: the block's own setting; 0 or undefined for the whole column. */
export function shownWidth(design: Design, block: Path, width: unknown): number {
  const { width: mail } = filled(SETTINGS, design.settings ?? {});
  const at = block.lastIndexOf("columns");
  const { columns } = (at < 0 ? { columns: [] } : getAt(design, block.slice(0, at))) as Pick<Section, "columns">;
  const sum = columns.reduce((all, { share = 1 }) => all + share, 0);
  const own = columns[Number(block[at + 1])]?.share ?? 1;
  const room = Math.round((at < 0 ? mail : (mail * own) / sum) - PADDING);
  return typeof width === "number" && width > 0 ? Math.min(width, room) : room;
}
