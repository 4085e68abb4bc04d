import { columnsOf } from "../../../services/subscribers/import/columns.ts";
import { copyLines, Tally } from "../../../services/subscribers/import/import-rows.ts";

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
    .map((line) => line.split("\t").filter((_, index) => index !== 1 && index < 6));
  return { copied, tally };
}

describe("the header of an import", () => {
  test("has columns in any order and usual spelling", () => {
    expect(columnsOf(["City", "Last Name", " EMAIL ", "first-name", ""])).toEqual({
      email: 2,
      firstName: 3,
      lastName: 1,
      fullName: -1,
      statuses: [],
      objects: [],
      attributes: [{ name: "City", at: 0 }],
      width: 5,
    });
  });

  test.each([
    [["name", "Ort"], 'The header has no column "email". It has: "name", "Ort".'],
    [["email", "Email"], 'The column "email" appears twice.'],
    [["email", "__proto__"], 'The column name "__proto__" cannot be used.'],
    [["em\uFFFDil"], expect.stringContaining("The file is not UTF-8 text.")],
  ])("is refused with %j", (header, sentence) => {
    expect(bodyOf(() => columnsOf(header))).toEqual({ file: [sentence] });
  });

  test("has no more than 100 attribute columns", () => {
    const many = Array.from({ length: 101 }, (_, n) => `c${n}`);
    expect(bodyOf(() => columnsOf(["email", ...many]))).toEqual({ file: [expect.stringContaining("100 columns")] });
  });
});

describe("a row of an import", () => {
  test("is trimmed; blank columns set no attributes", async () => {
    const { copied } = await lines(["email", "first_name", "city"], [" a@b.de ", " Ann ", " "], ["c@d.de", "", "Rome"]);
    expect(copied).toEqual([
      ["2", "a@b.de", "Ann", "", "\\N"],
      ["3", "c@d.de", "", "", '{"city":"Rome"}'],
    ]);
  });

  test("has a space instead of a line break in a name", async () => {
    const { copied } = await lines(["email", "first_name", "last_name"], ["a@b.de", "Ann\r\nMarie", "O\u2028Neil\n"]);
    expect(copied).toEqual([["2", "a@b.de", "Ann Marie", "O Neil", "\\N"]]);
  });

  test.each([
    ["Ada Lovelace", "Ada", "Lovelace"],
    ["Lovelace, Ada", "Ada", "Lovelace"],
    ["Ludwig van Beethoven", "Ludwig", "van Beethoven"],
    ["Plato", "Plato", ""],
    ["", "", ""],
  ])("with the full name %j has the names %j and %j", async (name, first, last) => {
    const { copied } = await lines(["name", "email"], [name, "a@b.de"]);
    expect(copied[0]!.slice(2, 4)).toEqual([first, last]);
  });

  test("has a JSON object flattened; a column wins over its member, and other text stays text", async () => {
    const header = ["email", "city", "attributes", "data"];
    const object = '{"city": "Rome", "a": {"b": {"c": 1}}, "gone": null, "mixed": [1, "x", null, {"y": 2}]}';
    const { copied } = await lines(header, ["a@b.de", "Bonn", object, "plain"]);
    expect(JSON.parse(copied[0]![4]!.replaceAll("\\\\", "\\"))).toEqual({
      city: "Bonn",
      "a.b.c": 1,
      mixed: ["1", "x", '{"y":2}'],
      data: "plain",
    });
  });

  test.each([
    ["broken JSON", "{", "attributes: Not valid JSON."],
    ["a name that is none", '{"__proto__x":1,"\\n":1}', 'attributes: "" cannot be the name of an attribute.'],
    ["a NUL in JSON", '{"a":"\\u0000"}', "attributes: Not a valid string."],
    [
      "too many members",
      JSON.stringify(Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`m${n}`, n]))),
      "attributes: Ensure this field has no more than 100 elements.",
    ],
    [
      "a long member",
      `{"a":"${"x".repeat(4_001)}"}`,
      "attributes: a: Ensure this field has no more than 4000 characters.",
    ],
  ])("is reported with %s", async (_name, cell, error) => {
    const { copied, tally } = await lines(["email", "attributes"], ["a@b.de", cell]);
    expect([copied, tally.errors]).toEqual([[], [{ row: 2, email: "a@b.de", error }]]);
  });

  test("has COPY syntax escaped", async () => {
    const { copied } = await lines(["email", "note", "first_name"], ["a@b.de", "x\ty\\z\nw", "back\\slash"]);
    expect(copied[0]).toEqual(["2", "a@b.de", "back\\\\slash", "", String.raw`{"note":"x\\ty\\\\z\\nw"}`]);
  });

  test("is ignored if blank, and its missing columns are blank", async () => {
    const { copied, tally } = await lines(["email", "first_name"], [""], ["a@b.de"], ["", " "]);
    expect(copied).toHaveLength(1);
    expect(tally.total).toBe(1);
  });

  test.each([
    ["no email", ["", "Ann"], "email: This field may not be blank."],
    ["a bad one", ["ann@", "Ann"], "email: Enter a valid email address."],
    ["broken text", ["a@b.de", "M\uFFFDller"], "The row is not valid UTF-8 text."],
    ["a NUL", ["a@b.de", "M\0ller"], "The row is not valid UTF-8 text."],
    ["a long name", ["a@b.de", "n".repeat(256)], "first_name: Ensure this field has no more than 255 characters."],
    [
      "a long attribute",
      ["a@b.de", "", "x".repeat(4_001)],
      "city: Ensure this field has no more than 4000 characters.",
    ],
    ["more columns than the header", ["a@b.de", "", "", "x"], "The row has 4 columns, but the header has 3."],
  ])("is skipped and reported with %s", async (_name, cells, error) => {
    const { copied, tally } = await lines(["email", "first_name", "city"], cells);
    expect(copied).toEqual([]);
    expect(tally).toMatchObject({ total: 1, skipped: 1, errors: [{ row: 2, email: cells[0], error }] });
  });

  test("is reported as one of the first hundred errors, and all are counted", async () => {
    const { tally } = await lines(["email"], ...Array.from({ length: 130 }, () => ["bad"]));
    expect(tally.errors).toHaveLength(100);
    expect(tally.skipped).toBe(130);
  });
});
