import { compileTemplate } from "../../../services/lib/template/compile.ts";
import { say } from "../../support/render.ts";

const errorsOf = (body: string) => compileTemplate(body, "body").errors;
const closes = "</i>".repeat(600);

describe("elements may be nested 500 deep", () => {
  test.each([
    ["exactly 500 nested elements", "<i>".repeat(500) + closes],
    ["beside each other", "<i></i>".repeat(2_000)],
    ["elements without an end", "<br><img><hr/><input>".repeat(600)],
    [
      "ends that may be left out",
      "<p>a<ul><li>b<li>c</ul><dl><dt>d<dd>e</dl><table><tr><td>f<tr><td>g</table>".repeat(300),
    ],
    ["in comments", `<!-- ${"<i>".repeat(600)} -->`],
    ["in conditional comments", `<!--[if mso]>${"<i>".repeat(600)}<![endif]-->`],
    ["in styles", `<style>${"<i>".repeat(600)}</style>`],
    ["in raw text elements", `<xmp>${"<i>".repeat(600)}`],
    ["in attributes", `<i title="${"<i>".repeat(600)}">`],
    ["less-than signs", "1 < 2 ".repeat(600)],
    ["branches that open an element each", '[[#if a]]<i>[[#else]]<i class="b">[[/if]]</i></i>'.repeat(600)],
  ])("%s", (_name, body) => {
    expect(errorsOf(body)).toBeUndefined();
  });

  test.each([
    ["ends that are in an attribute", `<i title="</i>">`.repeat(501), 8_001],
    ["ends in comments", "<i><!-- </i> -->".repeat(501), 8_001],
    ["ends of something else", "<i></b>".repeat(501), 3_501],
    ["ends that have no beginning", `${closes}${"<i>".repeat(501)}`, 3_901],
    ["with tags of the template between", "<i>[[a]]".repeat(501), 4_001],
    ["in capitals", "<DIV>".repeat(501), 2_501],
  ])("deeper nesting is refused: %s", (_name, body, column) => {
    expect(errorsOf(body)).toEqual([`Elements nested deeper than 500 levels at line 1, column ${column}.`]);
  });

  test("the error names the line", () => {
    expect(errorsOf("<i>\n".repeat(501))).toEqual(["Elements nested deeper than 500 levels at line 501, column 1."]);
  });

  test("accepted bodies have a text part", () => {
    expect(say(`${"<i>".repeat(190)}[[a]]${closes}`, { a: "here" }).text).toContain("here");
  });
});

test("a subject may look like HTML", () => {
  expect(compileTemplate("<i>".repeat(330), "subject").errors).toBeUndefined();
});

test("a body may have 10,000 template tags of any kind", () => {
  expect(errorsOf("[[#if a]][[/if]]".repeat(5_000))).toBeUndefined();
  expect(errorsOf(`${"[[#if a]][[/if]]".repeat(5_000)}\n[[a]]`)).toEqual(["More than 10000 tags at line 2, column 1."]);
  expect(errorsOf("\\[[a]]".repeat(20_000))).toBeUndefined();
});
