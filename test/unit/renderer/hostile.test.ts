import { compileTemplate } from "../../../services/lib/template/compile.ts";
import { MAX_OUTPUT, MAX_STEPS } from "../../../services/renderer/program/scope.ts";
import { cpuMsOf } from "../../support/cpu.ts";
import { makeMail, say } from "../../support/render.ts";

const NAMES = [
  "constructor",
  "constructor.constructor",
  "constructor.name",
  "__proto__",
  "__proto__.x",
  "__proto__.constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "a.constructor",
  "a.__proto__.toString",
  "list.map",
  "list.constructor",
  "text.length",
  "text.at",
  "process.env",
  "globalThis",
  "require",
];

describe("a template reaches nothing but the recipient's own data:", () => {
  const data = { a: { b: 1 }, list: [1, 2], text: "abc" };

  test.each(NAMES)("[[%s]] is empty", (name) => {
    expect(say(`<[[${name}]]|[[[${name}]]]>`, data).html).toBe("<|>");
    expect(say(`[[#if ${name}]]there[[/if]][[#each ${name}]]there[[/each]]`, data).html).toBe("");
  });

  test.each(NAMES.slice(0, 10))("[[this.%s]] in a loop is empty", (name) => {
    expect(say(`[[#each list]][[this.${name}]][[/each]]`, { list: [{ a: 1 }, "text", 5, null, [1]] }).html).toBe("");
  });

  test("a field that happens to have such a name is an ordinary field", () => {
    const data = JSON.parse('{"__proto__": {"x": "own"}, "constructor": "mine"}');
    expect(say("[[__proto__.x]] [[constructor]]", data).html).toBe("own mine");
    expect(({} as { x?: string }).x).toBeUndefined();
  });
});

describe("a template is limited", () => {
  const many = Array.from({ length: 1000 }, (_, i) => i);

  test("loops within loops stop at the limit of output", () => {
    const depth = 20;
    const template = `${"[[#each x]]".repeat(depth)}${"o".repeat(100)}${"[[/each]]".repeat(depth)}`;
    expect(() => say(template, { x: many })).toThrow(`The message is longer than ${MAX_OUTPUT} characters.`);
  });

  test.each([
    ["rounds", ""],
    ["conditions", "[[#if a]][[/if]]"],
    ["empty values", "[[a]]"],
    ["lists of nothing", "[[objects]]"],
    ["loops over nothing", "[[#each a]][[/each]]"],
    ["addresses", '<a href="[[a]]"></a>'],
  ])("loops that do much work without output stop early: %s", async (_name, inner) => {
    const body = `${"[[#each x]]".repeat(3)}${inner.repeat(1_000)}${"[[/each]]".repeat(3)}`;
    const attributes = { x: many, objects: many.map(() => ({})) };
    const refused = async () =>
      expect(makeMail({ body }, { attributes })).rejects.toThrow(`The message takes more than ${MAX_STEPS} steps.`);
    expect(await cpuMsOf(refused)).toBeLessThan(2_000);
  });

  test("a long list of products is far from any limit", async () => {
    const body =
      '[[#each x]]<p><a href="[[this.url]]">[[this.name]]</a> [[#if this.price]][[this.price]] €[[/if]]</p>[[/each]]';
    const x = many.map((n) => ({ name: `Product ${n}`, url: `https://shop.example/${n}`, price: n }));
    expect((await makeMail({ body }, { attributes: { x } })).message.length).toBeGreaterThan(100_000);
  });

  test("a repeated large value stops at the limit, too", () => {
    expect(() => say("[[#each x]][[big]][[/each]]", { x: many, big: "b".repeat(100_000) })).toThrow(/is longer than/);
  });

  test("an oversized subject fails the recipient", () => {
    expect(() => say("[[x]]", { x: "s".repeat(10_001) }).subject).toThrow(
      "The subject is longer than 10000 characters.",
    );
  });

  test("nesting beyond 32 levels is an error, however deep", () => {
    expect(compileTemplate("[[#if a]]".repeat(32) + "[[/if]]".repeat(32), "body").errors).toBeUndefined();
    expect(compileTemplate("[[#if a]]".repeat(33) + "[[/if]]".repeat(33), "body").errors?.[0]).toMatch(
      /^Nested deeper than 32 levels/,
    );
    expect(compileTemplate("[[#if a]]".repeat(100_000), "body").errors).toBeDefined();
  });

  test.each([
    ["brackets", "[".repeat(900_000)],
    ["open tags", "[[ ".repeat(300_000)],
    ["backslashes", "\\[[".repeat(300_000)],
    ["a long name", `[[${"a".repeat(900_000)}`],
    ["spaces in a tag", `[[${" ".repeat(900_000)}]]`],
    ["raw tags", "[[[".repeat(300_000)],
    ["closing brackets", "]]".repeat(400_000)],
    ["values", "[[a]]".repeat(150_000)],
  ])("%s compile in linear time", async (_name, source) => {
    expect(await cpuMsOf(() => compileTemplate(source, "body"))).toBeLessThan(3_000);
  });

  test.each([
    ["anchors", '<a href="'.repeat(40_000)],
    ["anchors without quotes", "<a href=".repeat(40_000)],
    ["escaped brackets in a tag", `<a ${"\\[[".repeat(250_000)}>`],
    ["escaped brackets in an address", `<a href="${"\\[[".repeat(250_000)}">`],
    ["line breaks", `<pre>${"\n".repeat(900_000)}x[[a]]</pre>`],
    ["spaces", `<pre>${" ".repeat(900_000)}x[[a]]</pre>`],
    ["elements in elements", "<div>".repeat(150_000)],
    ["open styles", "<style>".repeat(50_000)],
    ["attributes", `<a ${"x ".repeat(300_000)}>`],
    ["links", '<a href="https://example.com/x">y</a>'.repeat(10_000)],
    ["ends of bodies", "</body>".repeat(50_000)],
    ["tags in an address", `<a href="${"[[a]]".repeat(400)}">`.repeat(300)],
  ])("%s are scanned in linear time", async (_name, body) => {
    expect(await cpuMsOf(() => makeMail({ body }).catch(() => {}))).toBeLessThan(5_000);
  });
});
