import { JsonCost } from "../../../services/gateway/http/body-cost.ts";
import { bodyBudget } from "../../../services/gateway/http/shared-budget.ts";
import { randomOf } from "../../support/mta/random.ts";

const MIB = 1024 ** 2;

/** Expected count, computed by the parser itself. */
const tokensOf = (text: string): number =>
  [...text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, "")].filter((c) => "{[,:".includes(c)).length;

const add = (text: string, maxTokens: number, cuts: readonly number[] = []): void => {
  const cost = new JsonCost(maxTokens);
  const bytes = Buffer.from(text);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    cost.add(bytes.subarray(from, cut));
    from = cut;
  }
};

const SAMPLES = [
  '{"a":[1,2,{"b":null}],"c":"x,y:{[\\"","d":"\\\\"}',
  '["\\\\\\"",",",{"\\\\":"\\\\\\\\"}]',
  JSON.stringify({ text: "ü{€[😀,:".repeat(20), more: [[], {}, ""] }),
  '{"unterminated":"\\',
];

describe("the cost of a JSON body", () => {
  test.each(SAMPLES)("counts characters outside of strings, however the bytes are split: %s", (text) => {
    const tokens = tokensOf(text);
    const length = Buffer.byteLength(text);
    for (let cut = 0; cut <= length; cut++) {
      expect(() => add(text, tokens, [cut])).not.toThrow();
      expect(() => add(text, tokens - 1, [cut])).toThrow(expect.objectContaining({ code: "TOO_LARGE" }));
    }
    const each = Array.from({ length }, (_, i) => i);
    expect(() => add(text, tokens, each)).not.toThrow();
    expect(() => add(text, tokens - 1, each)).toThrow(expect.objectContaining({ code: "TOO_LARGE" }));
  });

  test("equals the count of random documents in random chunks", () => {
    const { next: random } = randomOf(7);
    const value = (depth: number): unknown => {
      const kind = Math.floor(random() * (depth > 4 ? 3 : 5));
      if (kind === 0) return random();
      if (kind === 1) return '\\"{[,:ü'.repeat(Math.floor(random() * 4));
      if (kind === 2) return null;
      const items = Array.from({ length: Math.floor(random() * 5) }, () => value(depth + 1));
      return kind === 3 ? items : Object.fromEntries(items.map((item, i) => [`k"${i}`, item]));
    };
    for (let n = 0; n < 200; n++) {
      const text = JSON.stringify([value(0)]);
      const tokens = tokensOf(text);
      const cuts = Array.from({ length: 4 }, () => Math.floor(random() * text.length)).sort((a, b) => a - b);
      expect(() => add(text, tokens, cuts)).not.toThrow();
      expect(() => add(text, tokens - 1, cuts)).toThrow();
    }
  });

  test("nesting is limited to 64 levels, whatever was closed before", () => {
    expect(() => add("[{}],".repeat(100), 1_000)).not.toThrow();
    expect(() => add("[".repeat(64), 1_000)).not.toThrow();
    expect(() => add("[".repeat(65), 1_000)).toThrow("nested too deeply");
    expect(() => add('{"a":'.repeat(65), 1_000)).toThrow("nested too deeply");
  });
});

describe("the memory budget of bodies", () => {
  test("one owner may use 20 MiB, the process 40; 64 KiB per body are always free", () => {
    const budget = bodyBudget();
    const take = (owner: string, bytes: number) => budget.open(owner).take(bytes);
    take("a", 19 * MIB);
    expect(() => take("a", 2 * MIB)).toThrow(expect.objectContaining({ code: "THROTTLED" }));
    take("b", 19 * MIB);
    expect(() => take("c", 4 * MIB)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
    for (let n = 0; n < 100; n++) take("c", 64 * 1024);
  });

  test("a released amount becomes available once", () => {
    const budget = bodyBudget();
    for (let n = 0; n < 100; n++) {
      const body = budget.open("a");
      body.take(10 * MIB);
      body.take(9 * MIB);
      expect(() => budget.open("a").take(2 * MIB)).toThrow();
      body.release();
      body.release();
    }
  });
});
