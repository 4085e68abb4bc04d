import { brandOf } from "../../services/lib/branding/brand-of.ts";
import { designErrors } from "../../services/lib/design/check.ts";
import { mjmlOf, textOf } from "../../services/lib/design/compile.ts";
import { STARTERS } from "../../services/lib/design/starters/starters.ts";
import { htmlOfMjml } from "../../services/lib/made-html/mjml.ts";
import { mailFindings } from "../../services/lib/mail-check/check-mail.ts";

const brand = {
  companyName: "Lantern [[Books]]",
  footerText: "Harbour Street 1",
  logoUrl: "",
  colours: { primary: "#7a1f3d", on_primary: "#ffffff", background: "#fffaf0", text: "#222222" },
  headingFont: "georgia",
  font: "arial",
  buttonRadius: 6,
} as const;
const source = { brand, saved: new Map() };
const inColumn = (...blocks: object[]) => ({ version: 1, blocks: [{ type: "section", columns: [{ blocks }] }] });

function made(design: unknown) {
  expect(designErrors(design)).toEqual([]);
  const valid = design as Parameters<typeof mjmlOf>[0];
  const { html, errors } = htmlOfMjml(mjmlOf(valid, source));
  expect(errors).toBeUndefined();
  return { html: html!, text: textOf(valid, source) };
}

test("what people type is text in the mail, and variables stay variables", () => {
  const hostile = `<script>"'&</mj-text> [[first_name|default:Tom & Jerry]]`;
  const { html, text } = made(
    inColumn(
      { type: "heading", text: hostile },
      { type: "button", text: hostile, href: 'https://a.example/?q="><script>' },
      { type: "image", src: "https://a.example/a.png", alt: hostile },
      { type: "header" },
    ),
  );
  expect(html).not.toMatch(/<script>|<\/mj-/);
  expect(html).toContain("&lt;script&gt;");
  expect(html.split("[[first_name|default:Tom & Jerry]]")).toHaveLength(4);
  expect(html).toContain("Lantern \\[[Books]]");
  expect(text).toContain(hostile);
});

test("conditions and loops are placed around sections and blocks, in both parts", () => {
  const { html, text } = made({
    version: 1,
    blocks: [
      {
        type: "if",
        variable: "vip",
        blocks: inColumn({ type: "heading", text: "Thank you" }).blocks,
        else: inColumn({
          type: "each",
          variable: "items",
          blocks: [{ type: "heading", text: "[[this.name]]" }],
        }).blocks,
      },
    ],
  });
  for (const part of [html, text]) {
    expect(part).toMatch(
      /\[\[#if vip\]\].*Thank you.*\[\[#else\]\].*\[\[#each items\]\].*\[\[this.name\]\].*\[\[\/if\]\]/s,
    );
  }
});

test.each([
  [{ version: 2, blocks: [] }, "version: This version is not known."],
  [{ version: 1, blocks: [{ type: "marquee" }] }, "blocks[0].type: There is no such kind of block here."],
  [inColumn({ type: "heading", text: 5 }), "blocks[0].columns[0].blocks[0].text: Not a valid string."],
  [inColumn({ type: "heading", txt: "A" }), "blocks[0].columns[0].blocks[0].txt: This field does not exist."],
  [inColumn({ type: "heading", text: "[[[a]]]" }), "blocks[0].columns[0].blocks[0].text: Use two brackets: [[name]]."],
  [
    inColumn({ type: "if", variable: "a]]<b>", blocks: [] }),
    "blocks[0].columns[0].blocks[0].variable: This is not a variable's name.",
  ],
  [
    inColumn({ type: "button", text: "Go", href: "javascript:alert(1)" }),
    "blocks[0].columns[0].blocks[0].href: Enter an address that starts with https://, http://, mailto:, tel: or a variable, without blanks.",
  ],
])("an error names its path: %j", (design, sentence) => {
  expect(designErrors(design)).toEqual([sentence]);
});

test.each([
  ["[", "[[evil]]", "]"],
  ["[", "[#if x]]"],
  ["\\", "[[name]]"],
])("texts beside each other make no other tag: %j", (...texts) => {
  const content = [{ type: "paragraph", content: texts.map((text) => ({ type: "text", text })) }];
  expect(designErrors(inColumn({ type: "text", content: { type: "doc", content } }))).toHaveLength(1);
});

test("a hostile tree is refused at once", () => {
  const marks = Array.from({ length: 120_000 }, () => 0);
  const content = [{ type: "paragraph", content: [{ type: "text", text: "A", marks }] }];
  let deep: object = { type: "heading", text: "A" };
  for (let no = 0; no < 5_000; no++) deep = { type: "if", variable: "a", blocks: [deep] };
  for (const block of [{ type: "text", content: { type: "doc", content } }, deep]) {
    expect(designErrors(inColumn(block))).toHaveLength(1);
  }
}, 10_000);

test.each(STARTERS.map((starter) => [starter.id, starter] as const))(
  "starter template %s is whole",
  (_id, { design }) => {
    const { html, text } = made(design);
    expect(Buffer.byteLength(html)).toBeLessThan(60 * 1_024);
    // Nothing is fetched when the mail is opened, but what its author puts in.
    expect(html).not.toMatch(/<link|@import|url\(|<img|fonts\.googleapis|\ssrc=/);
    expect(html).toMatch(/ lang="en"/);
    for (const colours of [brand.colours, brandOf({ name: "A", footer_text: "", branding: {} }).colours]) {
      const compiled = htmlOfMjml(mjmlOf(design, { ...source, brand: { ...brand, colours } }));
      // Links are for people to fill in, and are reported until then.
      expect(mailFindings(compiled.html!).filter(({ rule }) => rule !== "example")).toEqual([]);
    }
    expect(text.length).toBeGreaterThan(60);
    expect(text).not.toMatch(/undefined|null|<[a-z]/);
  },
);
