import { createHash } from "node:crypto";
import { qrPath } from "../../../services/lib/qr-code.ts";

const TEXT = `otpauth://totp/Flockmail:ada%40example.com?secret=ABCDEFGHIJKLMNOP&issuer=e${"x7".repeat(400)}`;

/** The modules that a path draws, within the light edge. */
function modulesOf({ size, path }: { size: number; path: string }): number[][] {
  const modules = Array.from({ length: size }, () => Array<number>(size).fill(0));
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    modules[Number(y)]!.fill(1, Number(x), Number(x) + Number(width));
  }
  return modules;
}

test.each([
  [5, 21],
  [121, 45],
  [213, 57],
  [660, 97],
])(
  "%i bytes make a code of %i modules, with its three corners and the light edge that cameras need",
  (length, size) => {
    const drawn = qrPath(TEXT.slice(0, length))!;
    expect(drawn.size).toBe(size + 8);
    const modules = modulesOf(drawn);
    const corner = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"];
    for (const [x, y] of [
      [4, 4],
      [4, size - 3],
      [size - 3, 4],
    ] as const) {
      expect(corner.map((_, n) => modules[y + n]!.slice(x, x + 7).join(""))).toEqual(corner);
    }
    const edge = [...modules.slice(0, 4), ...modules.slice(-4)].flat();
    expect(edge.every((module) => module === 0)).toBe(true);
  },
);

// Output of python-qrcode 8 with the same mask, version 7: two kinds of blocks, all full.
test("a code equals that of another encoder", () => {
  const inner = modulesOf(qrPath(TEXT.slice(0, 121))!)
    .slice(4, -4)
    .map((row) => row.slice(4, -4).join(""));
  const hash = createHash("sha256").update(inner.join("\n")).digest("hex");
  expect(hash.slice(0, 16)).toBe("48365c007412ef0d");
});

test("a text too long for a phone's screen is refused", () => {
  expect(qrPath("x".repeat(700))).toBeUndefined();
});
