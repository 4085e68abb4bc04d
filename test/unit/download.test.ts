import { once } from "node:events";
import { text } from "node:stream/consumers";
import { csvPage, cursorOf, downloadFrom } from "../../services/lib/download.ts";

const SIZE = 1_000;

/** A service whose action returns a CSV of this many rows; `asked` records the pages read. */
function csvOf(rows: number, asked: (string | undefined)[] = []) {
  const line = ([key, text]: string[]) => `${key},${text}\r\n`;
  return {
    async call(_action: string, _params: unknown, options: object) {
      const cursor = cursorOf(options);
      asked.push(cursor);
      if (asked.length === 3 && rows < 0) throw new Error("The database went away");
      const from = Number(cursor ?? 0) + 1;
      const length = rows < 0 ? SIZE : Math.max(0, Math.min(rows - from + 1, SIZE));
      const page = Array.from({ length }, (_, n) => [String(from + n), "x".repeat(100)]);
      return csvPage(page, SIZE, line, ([key]) => key!);
    },
  };
}
const download = (service: ReturnType<typeof csvOf>) => downloadFrom(service, { action: "some.csv" }, {});

describe("a CSV download", () => {
  test.each([0, 1, 499, 999, 1_000, 1_001, 2_000, 3_500])(
    "contains each of %i rows once and in order",
    async (rows) => {
      const keys = (await text(await download(csvOf(rows))))
        .split("\r\n")
        .slice(0, -1)
        .map((line) => line.split(",")[0]);
      expect(keys).toEqual(Array.from({ length: rows }, (_, n) => String(n + 1)));
    },
  );

  test("requests only two pages while nobody reads", async () => {
    const asked: (string | undefined)[] = [];
    const stream = await download(csvOf(20 * SIZE, asked));
    await once(stream, "readable");
    for (let pass = 0; pass < 20; pass++) await new Promise(setImmediate);
    expect(asked.length).toBeLessThanOrEqual(2);
    stream.destroy();
  });

  test("fails if a page fails, after the previous pages", async () => {
    const parts: string[] = [];
    const all = async () => {
      for await (const part of await download(csvOf(-1))) parts.push(String(part));
    };
    await expect(all()).rejects.toThrow("The database went away");
    expect(parts.join("").split("\r\n")).toHaveLength(2 * SIZE + 1);
  });
});
