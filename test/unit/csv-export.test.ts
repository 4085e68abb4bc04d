import { once } from "node:events";
import type { Readable } from "node:stream";
import fc from "fast-check";
import { isoTime } from "../../models/database/text-rows.ts";
import { csvCell } from "../../services/lib/csv.ts";
import { csvPages, csvStream } from "../../services/lib/csv-export.ts";

const SIZE = 1_000;

/** `rows` rows in pages; what was read of them is in `asked`. */
function pagesOf(rows: number, asked: string[] = []) {
  const read = async (after: string) => {
    asked.push(after);
    const from = Number(after) + 1;
    const to = Math.min(rows, from + SIZE - 1);
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => [String(from + n), "x".repeat(100)]);
  };
  return csvPages({ companyId: "acme", size: SIZE, first: "0", read, line: ([key, text]) => `${key},${text}\r\n` });
}

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of lines) text += piece;
  return text;
}

describe("a CSV download", () => {
  test.each([0, 1, 499, 999, 1_000, 1_001, 2_000, 3_500])("has each of %i rows once and in order", async (rows) => {
    const text = await textOf(pagesOf(rows));
    const keys = text
      .split("\r\n")
      .slice(0, -1)
      .map((line) => line.split(",")[0]);
    expect(keys).toEqual(Array.from({ length: rows }, (_, n) => String(n + 1)));
  });

  test("reads one page ahead and no more while nobody reads on", async () => {
    const asked: string[] = [];
    const stream = csvStream(pagesOf(20 * SIZE, asked)) as Readable;
    await once(stream, "readable");
    for (let pass = 0; pass < 20; pass++) await new Promise(setImmediate);
    expect(asked).toEqual(["0", String(SIZE)]);
    stream.destroy();
  });

  test("lets others have the event loop between parts of a page", async () => {
    let passes = 0;
    let next: NodeJS.Immediate;
    const count = () => {
      passes++;
      next = setImmediate(count);
    };
    count();
    const seen: number[] = [];
    for await (const _part of pagesOf(SIZE - 1)) seen.push(passes);
    clearImmediate(next!);
    expect(seen).toHaveLength(2);
    expect(seen[1]).toBeGreaterThan(seen[0]!);
  });

  test("fails where a page fails, after the pages before it", async () => {
    const read = async (after: string) => {
      if (after !== "0") throw new Error("The database went away");
      return Array.from({ length: SIZE }, (_, n) => [String(n + 1)]);
    };
    const parts: string[] = [];
    const all = async () => {
      for await (const part of csvPages({
        companyId: "acme",
        size: SIZE,
        first: "0",
        read,
        line: ([key]) => `${key}\n`,
      }))
        parts.push(part);
    };
    await expect(all()).rejects.toThrow("The database went away");
    expect(parts.join("").split("\n")).toHaveLength(SIZE + 1);
  });
});

test.each([
  ["2026-11-23 07:40:29+00", "2026-11-23T07:40:29.000Z"],
  ["2026-11-23 07:40:29.5+00", "2026-11-23T07:40:29.500Z"],
  ["2026-11-23 07:40:29.12+00", "2026-11-23T07:40:29.120Z"],
  ["2026-11-23 07:40:29.123999+00", "2026-11-23T07:40:29.123Z"],
  ["2026-11-23 09:40:29.001+02", "2026-11-23T07:40:29.001Z"],
  ["2026-11-23 13:10:29+05:30", "2026-11-23T07:40:29.000Z"],
  ["12026-11-23 07:40:29+00", "+012026-11-23T07:40:29.000Z"],
])("the time %s is written as %s", (text, iso) => {
  expect(isoTime(text)).toBe(iso);
});

/** What a cell is by its two rules alone. */
function byTheRules(value: string): string {
  const text = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

test("whatever a cell holds, the quick look at it changes nothing", () => {
  const sign = fc.constantFrom(
    "'",
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    '"',
    ",",
    ";",
    "＝",
    "＋",
    "－",
    "＠",
    "a",
    "é",
  );
  const cell = fc.oneof(
    fc.string(),
    fc.array(sign, { maxLength: 6 }).map((signs) => signs.join("")),
  );
  fc.assert(
    fc.property(cell, (value) => {
      expect(csvCell(value)).toBe(byTheRules(value));
    }),
    { numRuns: 2_000 },
  );
});
