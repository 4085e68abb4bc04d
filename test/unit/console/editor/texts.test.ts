import * as fc from "fast-check";
import { cleanFallback, partsOf, tagOf } from "../../../../services/console/editor/fields.ts";
import { lineSchema, richSchema } from "../../../../services/console/editor/rich-schema.ts";
import { lineNode, lineValue, richNode, richValue } from "../../../../services/console/editor/rich-value.ts";
import type { Brand } from "../../../../services/lib/design/brand.ts";
import type { RichText } from "../../../../services/lib/design/fields.ts";

const schema = richSchema({} as Brand);
const backFrom = (value: RichText) => richValue(richNode(schema, value));

test("a text is the same after it was opened and saved", () => {
  const value: RichText = {
    type: "doc",
    content: [
      {
        type: "paragraph",
        attrs: { align: "center" },
        content: [
          { type: "text", text: "Hello [[first_name|default:friend]], see " },
          {
            type: "text",
            text: "our [[shop]]",
            marks: [{ type: "link", attrs: { href: "https://example.com/" } }, { type: "bold" }],
          },
          { type: "break" },
          { type: "text", text: "[[#if x]] stays text, \\[[ too" },
        ],
      },
      { type: "bullets", content: [{ type: "item", content: [{ type: "paragraph" }] }] },
      { type: "paragraph" },
    ],
  };
  expect(backFrom(value)).toEqual(value);
  richNode(schema, value).check();
});

test("any line is the same after it was opened and saved", () => {
  const part = fc.oneof(fc.string(), fc.constantFrom("[[first_name]]", "[[a|default:b c]]", "[[", "]]", "[[#if a]]"));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const line = parts.join("");
      expect(lineValue(lineNode(lineSchema, line))).toBe(line);
    }),
  );
});

test("variables are found with their fallback, and a fallback cannot end its tag", () => {
  expect(partsOf("Hi [[first_name|default:friend]]!")).toEqual([
    "Hi ",
    { name: "first_name", fallback: "friend" },
    "!",
  ]);
  const fallback = cleanFallback("a]]b|c[[d");
  expect(partsOf(tagOf({ name: "x", fallback }))).toEqual([{ name: "x", fallback: "abcd" }]);
});
