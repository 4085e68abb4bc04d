import fc from "fast-check";
import { Parser } from "htmlparser2";
import { designErrors } from "../../services/lib/design/check.ts";
import { mjmlOf, textOf } from "../../services/lib/design/compile.ts";
import { htmlOfMjml } from "../../services/lib/made-html/mjml.ts";
import { compileTemplate } from "../../services/lib/template/compile.ts";
import { designs } from "../support/designs.ts";

const brand = {
  companyName: `A "<B>" & [[C]]`,
  footerText: "<i>Harbour\nStreet</i>",
  logoUrl: "",
  colours: { primary: "#7a1f3d", on_primary: "#ffffff", background: "#fffaf0", text: "#222222" },
  headingFont: "georgia",
  font: "arial",
  buttonRadius: 6,
} as const;
const source = { brand, saved: new Map() };

/** Elements and attributes that only texts contain. */
function foreignMarkup(html: string): string[] {
  const found: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      const names = [name, ...Object.keys(attributes)];
      found.push(...names.filter((one) => /^(?:script|i|mj-.*|onload)$/.test(one)));
    },
  });
  parser.end(html);
  return found;
}

test("each valid design becomes a mail in which all text is text", () => {
  fc.assert(
    fc.property(designs, (given) => {
      expect(designErrors(given)).toEqual([]);
      const { html, errors } = htmlOfMjml(mjmlOf(given, source));
      expect(errors).toBeUndefined();
      expect(compileTemplate(html!, "body").errors).toBeUndefined();
      expect(foreignMarkup(html!)).toEqual([]);
      expect(compileTemplate(textOf(given, source), "text").errors).toBeUndefined();
    }),
    { numRuns: 150, interruptAfterTimeLimit: 12_000, markInterruptAsFailure: false },
  );
}, 15_000);

test("a design of another version, or with a block of a kind that does not exist, is refused", () => {
  fc.assert(
    fc.property(
      designs,
      fc.integer().filter((no) => no !== 1),
      fc.string(),
      (given, version, type) => {
        expect(designErrors({ ...given, version })).not.toEqual([]);
        expect(designErrors({ ...given, blocks: [...given.blocks, { type }] })).not.toEqual([]);
      },
    ),
    { numRuns: 50 },
  );
});
