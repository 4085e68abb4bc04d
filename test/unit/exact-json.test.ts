import { parseExactJson } from "../../services/lib/exact-json.ts";

describe("numbers in JSON", () => {
  test.each(["9007199254740993", "12345678901234567890", "1e400", "0.1234567890123456789", "-9007199254740993.5"])(
    "stay text if they would lose digits: %s",
    (number) => {
      expect(parseExactJson(`{"a": [${number}]}`)).toEqual({ a: [number] });
    },
  );

  test.each(["0.1", "1.50", "1e21", "1e300", "-9007199254740992", "0.00000012", "0.0000000000000000", "12345678.25"])(
    "become numbers otherwise: %s",
    (number) => {
      expect(parseExactJson(`{"a": ${number}, "b": "1234567890123456789"}`)).toEqual({
        a: Number(number),
        b: "1234567890123456789",
      });
    },
  );

  test("a number of a million digits is parsed quickly", () => {
    const number = `1${"0".repeat(1_000_000)}1`;
    const began = performance.now();
    expect(parseExactJson(`[${number}, 0.0]`)).toEqual([number, 0]);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
