import { csvCell, csvRow, withoutGuard } from "../../../services/lib/csv.ts";

describe("a CSV cell", () => {
  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "＝1＋1", "＋1", "－1", "＠SUM(A1)"])(
    "is no longer a formula: %j",
    (text) => {
      expect(csvCell(text).replace(/^"|"$/g, "")).toBe(`'${text}`);
    },
  );

  test.each(["=1", "＝1", "'=1", "''-x", "'", "'s-Hertogenbosch", "O'Brien", "plain", "'+49"])(
    "is unchanged after export and import: %j",
    (text) => {
      expect(withoutGuard(csvCell(text))).toBe(text);
    },
  );

  test.each([
    ["plain", "plain"],
    ["a,b", '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ["two\nlines", '"two\nlines"'],
    ["=a,b", '"\'=a,b"'],
    [null, ""],
    [undefined, ""],
    [0, "0"],
    [-5, "-5"],
    [true, "true"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
  ])("is quoted and guarded: %j → %s", (value, cell) => {
    expect(csvCell(value)).toBe(cell);
  });

  test("is followed by CRLF at the end of its row", () => {
    expect(csvRow(["a", 1, null])).toBe("a,1,\r\n");
  });
});
