import fc from "fast-check";
import { type CsvRow, readCsv } from "../../../services/subscribers/import/csv-reader.ts";
import { decodeText } from "../../../services/subscribers/import/decode-text.ts";

async function read(...chunks: (string | Buffer)[]): Promise<CsvRow[]> {
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk as string);
  }
  const batches: CsvRow[][] = [];
  for await (const batch of readCsv(decodeText(stream()))) batches.push(batch);
  return batches.flat();
}

const cells = async (...chunks: (string | Buffer)[]) => (await read(...chunks)).map((row) => row.cells);

describe("reading CSV", () => {
  test("lets the event loop run every 200 rows, however many arrive at once", async () => {
    let turns = 0;
    let isDone = false;
    const others = () => {
      turns++;
      if (!isDone) setImmediate(others);
    };
    setImmediate(others);
    const rows = await read("a,b\n".repeat(20_000));
    isDone = true;
    expect(rows).toHaveLength(20_000);
    expect(turns).toBeGreaterThanOrEqual(100);
  });

  test("comma, semicolon and tab are detected from the first line", async () => {
    expect(await cells("a,b\n1,2;3\n")).toEqual([
      ["a", "b"],
      ["1", "2;3"],
    ]);
    expect(await cells("a;b\n1,5;2\n")).toEqual([
      ["a", "b"],
      ["1,5", "2"],
    ]);
    expect(await cells("a\tb\n1,5\t2;3")).toEqual([
      ["a", "b"],
      ["1,5", "2;3"],
    ]);
  });

  test("blanks around a quoted cell are not part of it", async () => {
    expect(
      await cells('a, b , c\nx, "Anna" ,\t"Cologne, South"\n "y","{""n"": ""a,b""}" , "two\n lines" \r\n'),
    ).toEqual([
      ["a", " b ", " c"],
      ["x", "Anna", "Cologne, South"],
      ["y", '{"n": "a,b"}', "two\n lines"],
    ]);
    expect(await cells('a\tb\n "x"\t "y" \t\n')).toEqual([
      ["a", "b"],
      ["x", "y", ""],
    ]);
  });

  test("a quoted delimiter in the header is ignored", async () => {
    expect(await cells('"a;b;c",d\n1,2')).toEqual([
      ["a;b;c", "d"],
      ["1", "2"],
    ]);
  });

  test.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("lines end with %s, the last one with or without", async (_name, newline) => {
    const expected = [["email"], ["a@b.de"], ["c@d.de"]];
    expect(await cells(["email", "a@b.de", "c@d.de"].join(newline))).toEqual(expected);
    expect(await cells(["email", "a@b.de", "c@d.de", ""].join(newline))).toEqual(expected);
  });

  test("a byte order mark is not part of the first name", async () => {
    expect(await cells("\uFEFFemail,name\n")).toEqual([["email", "name"]]);
  });

  test("a row has the number of its first line, even after quoted line breaks and blank lines", async () => {
    const rows = await read('a,b\n"one\ntwo\nthree",x\n\nlast,y\n');
    expect(rows.map(({ line }) => line)).toEqual([1, 2, 5, 6]);
  });

  test("an unclosed quote costs only its own line", async () => {
    const rows = await read('a,b\n"open,1\nnext,2\n');
    expect(rows).toEqual([
      { line: 1, cells: ["a", "b"] },
      { line: 2, cells: [], error: "A quoted field is not closed." },
      { line: 3, cells: ["next", "2"] },
    ]);
  });

  test("loses only that line in a file larger than a row's limit, too", async () => {
    const filler = "x,1\n".repeat(300_000);
    const rows = await read('a,b\n"open,1\n', filler.slice(0, 700_000), filler.slice(700_000));
    expect(rows).toHaveLength(300_002);
    expect(rows[1]!.error).toBeDefined();
    expect(rows.at(-1)).toEqual({ line: 300_002, cells: ["x", "1"] });
  });

  test.each([
    ["without quotes", "a@x.co,", "b@x.co"],
    ["behind a closed quote", '"a@x.co",', "b@x.co"],
    ["behind quoted line breaks", '"a@x.co\n\n",', "b@x.co"],
    ["within a quote", 'a@x.co,"', 'c"'],
  ])("an endless line costs only itself: %s", async (_name, begin, end) => {
    const filler = "x".repeat(900_000);
    const rows = await read(`email,note\n${begin}`, filler, filler, `${filler},${end}\nlast@x.co,1\n`);
    expect(rows).toHaveLength(3);
    expect(rows[1]).toMatchObject({ line: 2, error: "The row is too long." });
    expect(rows[1]!.cells[0]!.trim()).toBe("a@x.co");
    expect(rows[2]).toMatchObject({ line: begin.split("\n").length + 2, cells: ["last@x.co", "1"] });
  });

  test("blank lines before the header are ignored", async () => {
    const rows = await read("\n \r\n", "a;b\n1;2\n");
    expect(rows.slice(2)).toEqual([
      { line: 3, cells: ["a", "b"] },
      { line: 4, cells: ["1", "2"] },
    ]);
  });

  test("text between a closing quote and the delimiter is kept; a quote within a cell is literal", async () => {
    expect(await cells('a,b\n"x"y,5" disk\n')).toEqual([
      ["a", "b"],
      ["xy", '5" disk'],
    ]);
  });

  test("a bar is a delimiter, too, and a line sep= overrides detection", async () => {
    expect(await cells("a|b,c|d\n1|2|3\n")).toEqual([
      ["a", "b,c", "d"],
      ["1", "2", "3"],
    ]);
    for (const first of ["sep=;\r\n", '"sep=;"\r\n', "\r\n SEP=; \r\n"]) {
      const rows = await read(`${first}a,x;b\r\n1;2\r\n`);
      const lines = first.split("\n").length;
      expect(rows).toEqual([
        { line: lines, cells: ["a,x", "b"] },
        { line: lines + 1, cells: ["1", "2"] },
      ]);
    }
    expect(await cells("sep=\ta\nb")).toEqual([["sep=", "a"], ["b"]]);
    expect(await cells("sep=,\n")).toEqual([]);
  });

  test("a character split between chunks stays whole", async () => {
    const umlaut = Buffer.from("a\nMünchen\n");
    expect(await cells(umlaut.subarray(0, 4), umlaut.subarray(4))).toEqual([["a"], ["München"]]);
  });

  test("an empty file has no rows", async () => {
    expect(await read()).toEqual([]);
    expect(await read("")).toEqual([]);
  });

  const table = fc.record({
    delimiter: fc.constantFrom(",", ";", "\t"),
    newline: fc.constantFrom("\n", "\r\n", "\r"),
    bom: fc.boolean(),
    lastNewline: fc.boolean(),
    quoteAll: fc.boolean(),
    rows: fc.array(
      fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[",;\t\r\n a]*$/)), {
        minLength: 3,
        maxLength: 3,
      }),
      { maxLength: 8 },
    ),
    cuts: fc.array(fc.nat(), { maxLength: 4 }),
  });

  test("reads the next chunk only when the rows of the previous one are consumed: memory does not grow with the file", async () => {
    let pieces = 0;
    async function* endless() {
      for (;;) {
        pieces++;
        yield "a@example.com,Ann\n".repeat(3_000);
      }
    }
    const reading = readCsv(endless());
    for (let rows = 0; rows < 300_000; ) {
      const { value } = await reading.next();
      expect(pieces).toBe(Math.floor(rows / 3_000) + 1);
      rows += value!.length;
    }
    await reading.return(undefined);
  });

  test("any table written as CSV is read back unchanged for any chunk sizes", async () => {
    await fc.assert(
      fc.asyncProperty(table, async ({ delimiter, newline, bom, lastNewline, quoteAll, rows, cuts }) => {
        const quoted = (cell: string) =>
          quoteAll || /[",;\t\r\n\uFEFF]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
        const all = [["one", "two", "three"], ...rows];
        const lines = all.map((row) => row.map(quoted).join(delimiter)).join(newline);
        const bytes = Buffer.from(`${bom ? "\uFEFF" : ""}${lines}${lastNewline ? newline : ""}`);
        const at = [0, ...cuts.map((cut) => 1 + (cut % bytes.length)).toSorted((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(await cells(...chunks)).toEqual(all);
      }),
      { numRuns: 500 },
    );
  });
});
