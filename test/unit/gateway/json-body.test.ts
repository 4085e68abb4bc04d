import { jsonErrorOffset } from "../../../services/gateway/http/json-error.ts";
import { parseJson } from "../../../services/gateway/http/request-body.ts";
import { randomOf } from "../../support/mta/random.ts";

const parse = (text: string) => parseJson(Buffer.from(text));

describe("a JSON body", () => {
  test("is parsed unchanged, except for a byte order mark", () => {
    expect(parse('\uFEFF{"a":[1,"ü",null]}')).toEqual({ a: [1, "ü", null] });
  });

  test.each([
    '{"__proto__":{"x":1},"a":1}',
    '{"\\u005f\\u005fproto\\u005F_":{"x":1},"a":1}',
    '{"__pr\\u006ft\\u006F__":{"x":1},"a":1}',
  ])("never has an own key __proto__: %s", (text) => {
    const parsed = parse(text) as object;
    expect(Object.getOwnPropertyNames(parsed)).toEqual(["a"]);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });

  test("may contain __proto__ in a value", () => {
    expect(parse('{"a":"__proto__","b":"\\"__proto__\\":"}')).toEqual({ a: "__proto__", b: '"__proto__":' });
  });

  test.each(["", "{", "nul", '{"a":1,}', "\u0000", '"\\x"', "[".repeat(100_000), '{"__proto__":'.repeat(50_000)])(
    "that is malformed is a 400: %#",
    (text) => {
      expect(() => parse(text)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
    },
  );

  test("neither crashes nor hangs with deep nesting, with and without the name", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    for (const text of [deep, `{"__proto__":${deep}}`]) {
      try {
        parse(text);
      } catch (error) {
        expect(error).toMatchObject({ code: "BAD_REQUEST" });
      }
    }
  });

  test("is a 400 if it is not UTF-8", () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
  });
});

describe("the position of an error in a JSON body", () => {
  test.each([
    ["", 0],
    ["{", 1],
    ["nul", 0],
    ['{"a":1,}', 7],
    ["[1 2]", 3],
    ["[1,]", 3],
    ["{1:2}", 1],
    ['{"a" 1}', 5],
    ['{"a":secret}', 5],
    ['{"a":"b\nc"}', 7],
    ['["\\x"]', 2],
    ["[01]", 2],
    ["[1.]", 2],
    ["{} {}", 3],
    ["]", 0],
    ["[}", 1],
    ['"abc', 4],
  ])("of %j is %i", (text, offset) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(jsonErrorOffset(text)).toBe(offset);
  });

  test("is found for every mutation of valid JSON for which the parser fails, and no other", () => {
    const { below, pick } = randomOf(11);
    const valid = JSON.stringify({ a: [1, -2.5e3, 'x"\\\n\u00fc', null, true, {}], b: { c: [] } });
    for (let n = 0; n < 3_000; n++) {
      const at = below(valid.length);
      const text =
        valid.slice(0, at) + pick(["", "x", '"', "{", "]", ",", "1", "\\", "\n"]) + valid.slice(at + below(3));
      let isValid = true;
      try {
        JSON.parse(text);
      } catch {
        isValid = false;
      }
      const offset = jsonErrorOffset(text);
      if (isValid) expect(offset).toBe(text.length);
      else expect(offset).toBeLessThanOrEqual(text.length);
    }
  });

  test("is reported as line and column, without quoting the body", () => {
    expect(() => parse('{\n  "password": hunter2\n}')).toThrow(
      /^JSON parse error - The error is at line 2, column 15\.$/,
    );
  });
});
