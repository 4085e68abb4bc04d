import { diffOf, withContext } from "../../../services/console/line-diff.ts";

const marks = (before: string, after: string) =>
  diffOf(before, after).map(({ kind, text }) => `${{ same: " ", removed: "-", added: "+" }[kind]}${text}`);

/** Numbers without a library: the same sequence in each run. */
function* pseudoRandom(seed: number): Generator<number> {
  for (let value = seed; ; ) {
    value = (value * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield value / 2_147_483_648;
  }
}

/** The length of the longest common subsequence, by the plain table. */
function commonLength(a: string[], b: string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const one of a) {
    const next = [0];
    for (const [j, other] of b.entries()) next.push(one === other ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!));
    row = next;
  }
  return row.at(-1)!;
}

describe("the difference of two texts", () => {
  test("is empty for equal texts, whatever their line ends", () => {
    expect(diffOf("", "")).toEqual([]);
    expect(withContext(diffOf("a\nb", "a\r\nb"))).toEqual([]);
  });

  test("names what was removed, added and replaced", () => {
    expect(marks("", "a\nb")).toEqual(["+a", "+b"]);
    expect(marks("a\nb", "")).toEqual(["-a", "-b"]);
    expect(marks("a\nb\nc", "a\nx\nc")).toEqual([" a", "-b", "+x", " c"]);
  });

  test("turns one text into the other, with as many lines kept as possible", () => {
    const random = pseudoRandom(7);
    const text = () =>
      Array.from(
        { length: Math.floor(random.next().value! * 30) },
        () => "abcd"[Math.floor(random.next().value! * 4)]!,
      );
    for (let n = 0; n < 300; n++) {
      const [a, b] = [text(), text()];
      const lines = diffOf(a.join("\n"), b.join("\n"));
      const side = (other: string) => lines.filter(({ kind }) => kind !== other).map(({ text }) => text);
      expect([side("added"), side("removed")]).toEqual([a, b]);
      expect(lines.filter(({ kind }) => kind === "same")).toHaveLength(commonLength(a, b));
    }
  });

  test("replaces one long text by another with nothing in common, without an endless search", () => {
    const text = (mark: string) => Array.from({ length: 20_000 }, (_, n) => `${mark} ${n}`).join("\n");
    const lines = diffOf(`same\n${text("a")}`, `same\n${text("b")}`);
    expect(lines).toHaveLength(40_001);
    expect(lines.slice(0, 2)).toEqual([
      { kind: "same", text: "same" },
      { kind: "removed", text: "a 0" },
    ]);
  });

  test("is shown with three lines around it, numbered in both texts, and gaps between", () => {
    const before = Array.from({ length: 30 }, (_, n) => `${n + 1}`);
    const after = before.with(9, "ten").toSpliced(20, 1);
    const shown = withContext(diffOf(before.join("\n"), after.join("\n")));
    expect(shown.map((line) => (line.kind === "gap" ? `(${line.lines})` : line.text)).join(" ")).toBe(
      "(6) 7 8 9 10 ten 11 12 13 (4) 18 19 20 21 22 23 24 (6)",
    );
    expect(shown[4]).toEqual({ kind: "removed", text: "10", before: 10, after: null });
    expect(shown[5]).toEqual({ kind: "added", text: "ten", before: null, after: 10 });
    expect(shown.at(-2)).toEqual({ kind: "same", text: "24", before: 24, after: 23 });
  });

  test("is cut beyond a readable length", () => {
    const text = Array.from({ length: 500 }, (_, n) => `${n}`).join("\n");
    const shown = withContext(diffOf("", text), 100);
    expect(shown).toHaveLength(101);
    expect(shown.at(-1)).toEqual({ kind: "gap", lines: 400 });
  });
});
