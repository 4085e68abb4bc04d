import * as fc from "fast-check";
import { blockInText, textOf } from "../../../../services/console/editor/clipboard.ts";
import {
  allBlocks,
  type BlockType,
  blockOnWay,
  conditionAround,
  emptyDesign,
  fits,
  insertBlock,
  moveBlock,
  newBlock,
  newSection,
  pathFrom,
  placeFor,
  stepped,
  withColumns,
  withCondition,
} from "../../../../services/console/editor/document.ts";
import { begin, changed, redone, undone } from "../../../../services/console/editor/history.ts";
import {
  duplicateAt,
  getAt,
  keyOf,
  moveTo,
  type Path,
  parentOf,
  removeAt,
  setAt,
} from "../../../../services/console/editor/tree.ts";
import { designErrors } from "../../../../services/lib/design/check.ts";
import type { Block, Design } from "../../../../services/lib/design/design.ts";

const named = (text: string): Block => ({ type: "heading", text });
const design: Design = {
  version: 1,
  blocks: [
    { type: "section", columns: [{ blocks: [named("A"), named("B")] }, { blocks: [named("C")] }] },
    { type: "section", columns: [{ blocks: [] }] },
  ],
};
const inColumn = (section: number, column: number, no: number): Path => [
  "blocks",
  section,
  "columns",
  column,
  "blocks",
  no,
];
const words = (tree: Design) => allBlocks(tree).flatMap(([block]) => ("text" in block ? [block.text] : []));

describe("the tree", () => {
  test("a move names the place before it, and gives the path after it", () => {
    const { tree, path } = moveTo(design, inColumn(0, 0, 0), inColumn(0, 0, 2));
    expect([words(tree), path]).toEqual([["B", "A", "C"], inColumn(0, 0, 1)]);
    const back = moveTo(tree, path, inColumn(0, 0, 0));
    expect(back.tree).toEqual(design);
  });

  test("a block never moves into itself", () => {
    const { tree } = moveTo(design, ["blocks", 0], inColumn(0, 1, 0));
    expect(tree).toBe(design);
  });

  test("a change keeps unchanged branches and the keys of changed ones; a copy has keys of its own", () => {
    const key = keyOf(getAt(design, ["blocks", 0]) as object);
    const next = setAt(design, [...inColumn(0, 0, 0), "text"], "Z");
    expect(next.blocks[1]).toBe(design.blocks[1]);
    expect(keyOf(next.blocks[0]!)).toBe(key);
    const twice = duplicateAt(design, ["blocks", 0]);
    expect(twice.blocks[1]).toEqual(design.blocks[0]);
    expect(keyOf(twice.blocks[1]!)).not.toBe(key);
    expect(removeAt(twice, ["blocks", 1])).toEqual(design);
  });
});

describe("undo", () => {
  test("quick changes of one field are one step, others are steps of their own", () => {
    let history = begin("");
    history = changed(history, "a", "name", 0);
    history = changed(history, "ab", "name", 100);
    history = changed(history, "abc", "name", 9_000);
    history = changed(history, "x", "", 9_001);
    expect(history.past).toEqual(["", "ab", "abc"]);
    const before = undone(undone(history));
    expect(before.now).toBe("ab");
    expect(redone(before).now).toBe("abc");
    expect(changed(before, "new", "", 10_000).future).toEqual([]);
  });
});

describe("places", () => {
  test("a block goes below the selected one, and into an empty section that is selected", () => {
    expect(placeFor(design, named("X"), inColumn(0, 0, 0))).toEqual(inColumn(0, 0, 1));
    expect(placeFor(design, named("X"), ["blocks", 1])).toEqual(inColumn(1, 0, 0));
    expect(placeFor(design, newSection(2), inColumn(0, 0, 0))).toEqual(["blocks", 1]);
    expect(placeFor(design, named("X"), null)).toEqual(inColumn(1, 0, 0));
    expect(placeFor(emptyDesign(), newSection(1), null)).toEqual(["blocks", 2]);
  });

  test("a block between sections gets a section of its own", () => {
    const { tree, path } = insertBlock(design, named("X"), ["blocks", 1]);
    expect(path).toEqual(inColumn(1, 0, 0));
    expect(words(tree)).toEqual(["A", "B", "C", "X"]);
    const moved = moveBlock(design, inColumn(0, 0, 0), ["blocks", 2]);
    expect([words(moved.tree), moved.tree.blocks.length]).toEqual([["B", "C", "A"], 3]);
  });

  test("steps lead past neighbours, then into the next column and section", () => {
    const down = stepped(design, inColumn(0, 0, 1), 1);
    expect(down.path).toEqual(inColumn(0, 1, 0));
    const across = stepped(down.tree, inColumn(0, 1, 1), 1);
    expect(across.path).toEqual(inColumn(1, 0, 0));
    expect(stepped(design, inColumn(0, 0, 0), -1).tree).toBe(design);
  });

  test("blocks of removed columns stay", () => {
    const [section] = design.blocks as [Parameters<typeof withColumns>[0]];
    expect(withColumns(section, 1).columns).toEqual([{ blocks: [named("A"), named("B"), named("C")] }]);
    expect(withColumns(section, 4).columns).toHaveLength(4);
  });

  test("a condition is put around a block, changed and taken away", () => {
    const put = withCondition(design, inColumn(0, 1, 0), "city");
    expect(getAt(put.tree, inColumn(0, 1, 0))).toEqual({ type: "if", variable: "city", blocks: [named("C")] });
    expect(conditionAround(put.tree, put.path)).toEqual(inColumn(0, 1, 0));
    expect(withCondition(withCondition(put.tree, put.path, "email").tree, put.path, "").tree).toEqual(design);
  });

  test("an error's path leads to its block", () => {
    const path = pathFrom("blocks[0].columns[1].blocks[2].links[3].href");
    expect(blockOnWay(path)).toEqual({ block: inColumn(0, 1, 2), rest: ["links", 3, "href"] });
  });
});

const KINDS: BlockType[] = ["heading", "text", "image", "list", "table", "card", "social", "footer", "if", "section"];

test("whatever is added, moved, duplicated and deleted, the design is one that the API accepts", () => {
  const action = fc.record({
    does: fc.constantFrom("add", "up", "down", "copy", "delete", "drag", "if"),
    kind: fc.constantFrom(...KINDS),
    at: fc.nat(30),
    to: fc.nat(30),
  });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 25 }), (actions) => {
      let tree = emptyDesign();
      for (const { does, kind, at, to } of actions) {
        const all = allBlocks(tree);
        const [, path] = all[at % Math.max(1, all.length)] ?? [undefined, null];
        if (does === "add" || !path) {
          const block = newBlock(kind, 2);
          tree = insertBlock(tree, block, placeFor(tree, block, path)).tree;
        } else if (does === "up" || does === "down") tree = stepped(tree, path, does === "up" ? -1 : 1).tree;
        else if (does === "copy" && all.length < 40) tree = duplicateAt(tree, path);
        else if (does === "delete") tree = removeAt(tree, path);
        else if (does === "drag") tree = moveBlock(tree, path, all[to % all.length]![1]).tree;
        else if (does === "if" && path.length < 7) tree = withCondition(tree, path, "city").tree;
        for (const [block, where] of allBlocks(tree)) {
          if (!fits(block, parentOf(where))) throw new Error(`${block.type} at ${where.join("/")}`);
        }
      }
      expect(designErrors(tree).filter((sentence) => !/levels deep/.test(sentence))).toEqual([]);
      expect(JSON.parse(JSON.stringify(tree))).toEqual(tree);
    }),
    { numRuns: 150 },
  );
});

describe("the clipboard", () => {
  test("a copied block is pasted as it was, and other text is no block", () => {
    const block = design.blocks[0]!;
    expect(blockInText(textOf(block))).toEqual(block);
    for (const text of [
      "",
      "Hello",
      "[1]",
      '{"block":{"type":"heading"}}',
      '{"flockmail-block":1,"block":{"type":"x"}}',
    ]) {
      expect(blockInText(text)).toBeUndefined();
    }
  });

  test("unknown settings and values of a wrong type are dropped", () => {
    const given = { type: "heading", text: 5, level: "9", align: "left", onclick: "x" };
    expect(blockInText(JSON.stringify({ "flockmail-block": 1, block: given }))).toEqual({
      type: "heading",
      align: "left",
    });
  });
});
