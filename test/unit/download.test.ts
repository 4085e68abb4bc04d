import { once } from "node:events";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { isoTime } from "../../models/database/text-rows.ts";
import { csvCell } from "../../services/lib/csv.ts";
import { csvPage, cursorOf, downloadFrom } from "../../services/lib/download.ts";

const SIZE = 1_000;

/** A service whose action gives a CSV of so many rows; what was read of them is in `asked`. */
function csvOf(rows: number, asked: (string | undefined)[] = []) {
  const line = ([key, text]: (string | null)[]) => `${key},${text}\r\n`;
  return {
    async call(_action: string, _params: unknown, options: object) {
      const cursor = cursorOf(options);
      asked.push(cursor);
      if (asked.length === 3 && rows < 0) throw new Error("The database went away");
      const from = Number(cursor ?? 0) + 1;
      const length = rows < 0 ? SIZE : Math.max(0, Math.min(rows - from + 1, SIZE));
      const page = Array.from({ length }, (_, n) => [String(from + n), "x".repeat(100)]);
      return csvPage(page, SIZE, line);
    },
  };
}
const download = (service: ReturnType<typeof csvOf>) => downloadFrom(service, { action: "some.csv" }, {});

describe("a CSV download", () => {
  test.each([0, 1, 499, 999, 1_000, 1_001, 2_000, 3_500])("has each of %i rows once and in order", async (rows) => {
    const keys = (await text(await download(csvOf(rows))))
      .split("\r\n")
      .slice(0, -1)
      .map((line) => line.split(",")[0]);
    expect(keys).toEqual(Array.from({ length: rows }, (_, n) => String(n + 1)));
  });

  test("asks for two pages and no more while nobody reads on", async () => {
    const asked: (string | undefined)[] = [];
    const stream = await download(csvOf(20 * SIZE, asked));
    await once(stream, "readable");
    for (let pass = 0; pass < 20; pass++) await new Promise(setImmediate);
    expect(asked.length).toBeLessThanOrEqual(2);
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
    await csvOf(SIZE).call("some.csv", {}, {});
    clearImmediate(next!);
    expect(passes).toBeGreaterThan(1);
  });

  test("fails where a page fails, after the pages before it", async () => {
    const parts: string[] = [];
    const all = async () => {
      for await (const part of await download(csvOf(-1))) parts.push(String(part));
    };
    await expect(all()).rejects.toThrow("The database went away");
    expect(parts.join("").split("\r\n")).toHaveLength(2 * SIZE + 1);
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
