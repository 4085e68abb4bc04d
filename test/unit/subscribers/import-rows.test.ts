import { columnsOf, copyLines, Tally } from "../../../services/subscribers/import/import-rows.ts";

const bodyOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return (error as { data?: { fields?: unknown } }).data?.fields;
  }
  throw new Error("Nothing was refused");
};

async function lines(header: string[], ...rows: string[][]) {
  async function* batches() {
    yield rows.map((cells, index) => ({ line: index + 2, cells }));
  }
  const tally = new Tally();
  let text = "";
  for await (const piece of copyLines(columnsOf(header), batches(), tally)) text += piece;
  const copied = text
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("\t").filter((_, index) => index !== 1));
  return { copied, tally };
}

describe("the header of an import", () => {
  test("columns are found in any order and in the usual spellings", () => {
    expect(columnsOf(["City", "Last Name", " EMAIL ", "first-name", ""])).toEqual({
      email: 2,
      firstName: 3,
      lastName: 1,
      attributes: [{ name: "City", at: 0 }],
      width: 5,
    });
  });

  test.each([
    [["name"], 'The header has no column "email".'],
    [["email", "Email"], 'The column "email" is there twice.'],
    [["email", "__proto__"], 'The column name "__proto__" cannot be used.'],
    [["em\uFFFDil"], "The file is not UTF-8 text. Save it as CSV UTF-8."],
  ])("%j is refused", (header, sentence) => {
    expect(bodyOf(() => columnsOf(header))).toEqual({ file: [sentence] });
  });

  test("no more than 100 attribute columns", () => {
    const many = Array.from({ length: 101 }, (_, n) => `c${n}`);
    expect(bodyOf(() => columnsOf(["email", ...many]))).toEqual({ file: [expect.stringContaining("100 columns")] });
  });
});

describe("a row of an import", () => {
  test("is trimmed; blank columns are no attributes", async () => {
    const { copied } = await lines(["email", "first_name", "city"], [" a@b.de ", " Ann ", " "], ["c@d.de", "", "Rome"]);
    expect(copied).toEqual([
      ["2", "a@b.de", "Ann", "", "\\N"],
      ["3", "c@d.de", "", "", '{"city":"Rome"}'],
    ]);
  });

  test("what COPY would read as syntax is escaped", async () => {
    const { copied } = await lines(["email", "note", "first_name"], ["a@b.de", "x\ty\\z\nw", "back\\slash"]);
    expect(copied[0]).toEqual(["2", "a@b.de", "back\\\\slash", "", String.raw`{"note":"x\\ty\\\\z\\nw"}`]);
  });

  test("blank lines are ignored; missing columns are blank", async () => {
    const { copied, tally } = await lines(["email", "first_name"], [""], ["a@b.de"], ["", " "]);
    expect(copied).toHaveLength(1);
    expect(tally.total).toBe(1);
  });

  test.each([
    ["no email", ["", "Ann"], "email: This field may not be blank."],
    ["a bad one", ["ann@", "Ann"], "email: Enter a valid email address."],
    ["broken text", ["a@b.de", "M\uFFFDller"], "The row is not valid UTF-8 text."],
    ["a NUL", ["a@b.de", "M\0ller"], "The row is not valid UTF-8 text."],
    ["a line break in a name", ["a@b.de", "An\nn"], "first_name: Line breaks and control characters are not allowed."],
    ["a long name", ["a@b.de", "n".repeat(256)], "first_name: Ensure this field has no more than 255 characters."],
    [
      "a long attribute",
      ["a@b.de", "", "x".repeat(4_001)],
      "city: Ensure this field has no more than 4000 characters.",
    ],
    ["more columns than the header", ["a@b.de", "", "", "x"], "The row has 4 columns, the header 3."],
  ])("with %s is skipped and reported", async (_name, cells, error) => {
    const { copied, tally } = await lines(["email", "first_name", "city"], cells);
    expect(copied).toEqual([]);
    expect(tally).toMatchObject({ total: 1, skipped: 1, errors: [{ row: 2, email: cells[0], error }] });
  });

  test("the first hundred errors are reported, all are counted", async () => {
    const { tally } = await lines(["email"], ...Array.from({ length: 130 }, () => ["bad"]));
    expect(tally.errors).toHaveLength(100);
    expect(tally.skipped).toBe(130);
  });
});
