/** Generates designs that the schema allows. */
import fc from "fast-check";
import { BLOCKS } from "../../services/lib/design/blocks/fields.ts";
import type { Block, Design } from "../../services/lib/design/design.ts";
import { SECTION, SETTINGS } from "../../services/lib/design/design.ts";
import type { Field, Fields } from "../../services/lib/design/fields.ts";

/** Found in no other text of a mail, so that each occurrence is known. */
const HOSTILE = [
  "<script>alert(1)</script>",
  "</mj-text><mj-raw>",
  '" onload="x',
  "<!-- -->",
  "]]> & &lt;",
  "[[first_name|default:Tom & <b>]]",
  "\\[[ literal",
  "{{ x }} \u202e \ud83d\ude00",
];
const line = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("[[", "[ [")),
);
const address = fc.constantFrom("", "https://a.example/?q=%22&b=<script>'", "mailto:a@b.example", "[[url]]");

const inline = fc.oneof(
  fc.record({ type: fc.constant("break") }),
  fc.record(
    {
      type: fc.constant("text"),
      text: line.filter((text) => text !== ""),
      marks: fc.array(
        fc.oneof(
          fc.constantFrom("bold", "italic", "underline", "strike").map((type) => ({ type })),
          address.map((href) => ({ type: "link", attrs: { href } })),
          fc.constantFrom("", "#00ff00", "brand.primary").map((value) => ({ type: "colour", attrs: { value } })),
        ),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ["type", "text"] },
  ),
);
const paragraph = fc.record({ type: fc.constant("paragraph"), content: fc.array(inline, { maxLength: 3 }) });
const rich = fc.record({
  type: fc.constant("doc"),
  content: fc.array(
    fc.oneof(
      paragraph,
      fc.record({
        type: fc.constantFrom("bullets", "numbers"),
        content: fc.array(
          fc.record({ type: fc.constant("item"), content: fc.array(paragraph, { minLength: 1, maxLength: 2 }) }),
          { minLength: 1, maxLength: 2 },
        ),
      }),
    ),
    { minLength: 1, maxLength: 3 },
  ),
});

function arbitraryOf(field: Field): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case "line":
      return line
        .map((text) => text.slice(0, field.maxLength).toWellFormed())
        .filter((text) => !/\[\[(?!.*\]\])/.test(text) || text.startsWith("\\[["));
    case "html":
      return fc.constantFrom("", "<p>A</p>", "[[#if a]]<b>B</b>[[/if]]", "<table><tr><td>C</td></tr></table>");
    case "rich":
      return rich;
    case "link":
      return address;
    case "image":
      return fc.constantFrom("", "https://a.example/a.png?b=<script>'&c", "[[picture]]");
    case "colour":
      return fc.constantFrom("", "#00ff00", "#ABCDEF", "brand.on_primary");
    case "pixels":
      return fc.integer({ min: field.minimum, max: field.maximum });
    case "choice":
      return fc.constantFrom(...field.values);
    case "flag":
      return fc.boolean();
    case "items":
      return fc.array(valuesOf(field.fields), { minLength: field.minimum, maxLength: Math.min(field.maximum, 3) });
  }
}
const valuesOf = (fields: Fields): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, arbitraryOf(field)])), {
    requiredKeys: [],
  });

const leaf = fc.oneof(
  ...Object.entries(BLOCKS).map(([type, fields]) => valuesOf(fields).map((values) => ({ type, ...values }))),
);
/** Conditions and loops around blocks. */
const around = (block: fc.Arbitrary<object>) =>
  fc.oneof(
    { weight: 4, arbitrary: block },
    fc.array(block, { maxLength: 2 }).map((blocks) => ({ type: "if", variable: "vip", blocks, else: blocks })),
    fc.array(block, { maxLength: 2 }).map((blocks) => ({ type: "each", variable: "order.items", blocks })),
  );
const column = fc.record({ share: fc.constantFrom(1, 2.5), blocks: fc.array(around(leaf), { maxLength: 3 }) });
const section = fc
  .tuple(valuesOf(SECTION), fc.array(column, { minLength: 1, maxLength: 4 }))
  .map(([values, columns]) => ({ type: "section", ...values, columns }));
export const designs = fc
  .tuple(
    valuesOf({ ...SETTINGS, language: { kind: "choice", values: ["", "en", "ar"], default: "" } }),
    fc.array(around(section), { maxLength: 3 }),
  )
  .map(([settings, blocks]) => ({ version: 1, settings, blocks: blocks as Block[] }) as unknown as Design);
