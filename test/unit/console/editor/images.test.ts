import { framingOf, isWhole, partOf, SHAPES, type Shape, WHOLE } from "../../../../services/console/editor/crop.ts";
import { shownWidth } from "../../../../services/console/editor/shown-width.ts";

const SIZE = { width: 1200, height: 800 };

test("the part of an image has the chosen shape, stays inside, and is found again from its pixels", () => {
  expect(isWhole(partOf(SIZE, WHOLE), SIZE)).toBe(true);
  expect(partOf(SIZE, { ...WHOLE, shape: "1:1" })).toEqual({ left: 200, top: 0, width: 800, height: 800 });
  expect(partOf(SIZE, { ...WHOLE, shape: "3:1", y: 0 })).toEqual({ left: 0, top: 0, width: 1200, height: 400 });
  for (const shape of Object.keys(SHAPES) as Shape[]) {
    for (const [zoom, x, y] of [
      [1, 0.5, 0.5],
      [2, 0, 1],
      [4, 1, 0.25],
    ] as const) {
      const part = partOf(SIZE, { shape, zoom, x, y });
      expect(part.left + part.width).toBeLessThanOrEqual(SIZE.width);
      expect(part.top + part.height).toBeLessThanOrEqual(SIZE.height);
      const again = partOf(SIZE, framingOf(SIZE, part));
      for (const side of ["left", "top", "width", "height"] as const) {
        expect(Math.abs(again[side] - part[side])).toBeLessThanOrEqual(2);
      }
    }
  }
});

test("the shown width follows the mail's width, the column's share and the block's own width", () => {
  const section = { type: "section", columns: [{ share: 2, blocks: [{ type: "image" }] }, { blocks: [] }] };
  const design = { version: 1 as const, blocks: [section] };
  const at = ["blocks", 0, "columns", 0, "blocks", 0];
  expect(shownWidth(design, at, undefined)).toBe(352);
  expect(shownWidth(design, at, 200)).toBe(200);
  expect(shownWidth(design, at, 700)).toBe(352);
  expect(shownWidth({ ...design, settings: { width: 720 } }, ["blocks", 0, "columns", 1, "blocks", 0], 0)).toBe(192);
});
