import { parseJson } from "../../../services/gateway/http/request-body.ts";

const parse = (text: string) => parseJson(Buffer.from(text));

describe("a JSON body", () => {
  test("is parsed as it is, a byte order mark aside", () => {
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

  test("may speak of __proto__ in a value", () => {
    expect(parse('{"a":"__proto__","b":"\\"__proto__\\":"}')).toEqual({ a: "__proto__", b: '"__proto__":' });
  });

  test.each(["", "{", "nul", '{"a":1,}', "\u0000", '"\\x"', "[".repeat(100_000), '{"__proto__":'.repeat(50_000)])(
    "that is broken is a 400: %#",
    (text) => {
      expect(() => parse(text)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
    },
  );

  test("of deep nesting neither crashes nor hangs, with and without the name", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    for (const text of [deep, `{"__proto__":${deep}}`]) {
      try {
        parse(text);
      } catch (error) {
        expect(error).toMatchObject({ code: "BAD_REQUEST" });
      }
    }
  });

  test("in bytes that are no UTF-8 is a 400", () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
  });
});
