import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  brandingErrors,
  DEFAULT_BACKGROUND,
  DEFAULT_COLOR,
  logoSource,
} from "../../../services/lib/branding/branding.ts";
import { contrast, readableOn } from "../../../services/lib/branding/colours.ts";
import { brandCss, type Palette, paletteOf } from "../../../services/lib/branding/palette.ts";
import { page } from "../../../services/tracking/pages/page.ts";
import { http } from "../../integration/tracking/world.ts";

/** Values of WebAIM's contrast checker. */
test.each([
  ["#000000", "#ffffff", 21],
  ["#ffffff", "#ffffff", 1],
  ["#767676", "#ffffff", 4.54],
  ["#777777", "#ffffff", 4.47],
  ["#0000ff", "#ffffff", 8.59],
  ["#ff0000", "#000000", 5.25],
])("the contrast of %s and %s is %d, in either order", (one, other, ratio) => {
  expect(Math.floor(contrast(one, other) * 100) / 100).toBe(ratio);
  expect(contrast(other, one)).toBe(contrast(one, other));
});

/** Deterministic sample of the colour cube. */
function* someColours(count: number): Generator<string> {
  for (let n = 0; n < count; n++) {
    const bytes = createHash("sha256").update(`colour ${n}`).digest();
    yield `#${bytes.subarray(0, 3).toString("hex")}`;
  }
}

describe("colours of a company's pages", () => {
  const TEXTS: [front: keyof Palette, back: keyof Palette][] = (["ground", "paper"] as const).flatMap((back) =>
    (["ink", "soft", "accent"] as const).map((front): [keyof Palette, keyof Palette] => [front, back]),
  );
  TEXTS.push(["on-accent", "accent"], ["on-good", "good"], ["on-bad", "bad"]);

  function expectReadable(palette: Palette): void {
    for (const [front, back] of TEXTS) expect(contrast(palette[front], palette[back])).toBeGreaterThanOrEqual(4.5);
    expect(contrast(palette.line, palette.paper)).toBeGreaterThanOrEqual(3);
  }

  test("are readable in light and dark for any choice, and the light page uses the chosen ones", () => {
    const all = [...someColours(1_000)];
    const accepted = all.flatMap((color, n) => {
      const background = all[(n * 7 + 1) % all.length]!;
      return brandingErrors({ color, background }).length === 0 ? [{ color, background }] : [];
    });
    expect(accepted.length).toBeGreaterThan(50);
    for (const branding of accepted) {
      const { light, dark } = paletteOf(branding);
      expect(light).toMatchObject({ accent: branding.color, paper: branding.background, ground: branding.background });
      expectReadable(light);
      expectReadable(dark);
    }
  });

  test("are dark for readers who prefer that, whatever the company chose", () => {
    for (const background of someColours(100)) {
      const { dark } = paletteOf({ color: readableOn(background, background, 4.5), background });
      expect(contrast(dark.paper, "#ffffff")).toBeGreaterThan(contrast(dark.paper, "#000000"));
      expectReadable(dark);
    }
  });

  test("are ignored if stored and invalid, and the page stays readable", () => {
    expectReadable(paletteOf({ color: "#777777", background: "#808080" }).light);
    const hostile = "red}</style><script>alert(1)</script>";
    const css = brandCss({ color: hostile, background: "url(https://evil.example/)" })!;
    expect(css).toBe(brandCss({ color: DEFAULT_COLOR, background: DEFAULT_BACKGROUND }));
    expect(css).not.toMatch(/[<>"'\\]|url/);
  });

  test("are the service's if the company has none", () => {
    expect(brandCss({ name: "Lantern", logo_url: "https://a.example/l.png" })).toBeUndefined();
  });

  test("begin with the colours of the page's own style", () => {
    const css = readFileSync(join(import.meta.dirname, "../../../services/lib/page-style/page.css"), "utf8");
    const [light, dark] = [...css.matchAll(/:root\s*\{([^}]*)\}/g)].map(([, block]) => block!);
    const { light: ours, dark: oursInTheDark } = paletteOf({});
    for (const name of ["ink", "soft", "line", "accent", "good", "on-good", "bad", "on-bad"] as const) {
      expect(light).toContain(`--${name}: ${ours[name]};`);
    }
    for (const name of ["paper", "ink", "soft", "line", "good", "on-good", "bad", "on-bad"] as const) {
      expect(dark).toContain(`--${name}: ${oursInTheDark[name]};`);
    }
  });
});

test.each([
  [{}, []],
  [{ color: "#767676" }, []],
  [{ color: "#777777" }, [expect.stringMatching(/^color: #777777 on #ffffff has a contrast of 4\.47:1/)]],
  [{ background: "#000000" }, [expect.stringContaining("#0b6b72 on #000000")]],
  [{ color: "#ffff00", background: "#000000" }, []],
  [{ color: "#abc" }, ['"#abc" is not a colour such as #0b6b72.']],
  [{ text: "#eeeeee" }, [expect.stringMatching(/^text: #eeeeee on #ffffff has a contrast of 1\.16:1/)]],
  [{ on_primary: "#000000", color: "#0b6b72" }, [expect.stringMatching(/^on_primary: #000000 on #0b6b72/)]],
  [{ logo_url: "javascript:alert(1)" }, [expect.stringMatching(/^logo_url: /)]],
])("the errors of %j are %j", (branding, errors) => expect(brandingErrors(branding)).toEqual(errors));

test.each([
  ["https://cdn.example/l.png?size=2", "https://cdn.example"],
  ["HTTP://CDN.Example:8080/l.png", "http://cdn.example:8080"],
  ["https://bücher.example/l.png", "https://xn--bcher-kva.example"],
  ["https://192.0.2.7/l.png", "https://192.0.2.7"],
  ["https://[2001:db8::1]/l.png", undefined],
  ["https://user:secret@cdn.example/l.png", undefined],
  ["https://a;script-src/l.png", undefined],
  ["https://a,b.example/l.png", undefined],
  ["https://*/l.png", undefined],
  ["https://*.example/l.png", undefined],
  ["https://'unsafe-inline'/l.png", undefined],
  ["data:image/png;base64,AAAA", undefined],
  ["//cdn.example/l.png", undefined],
  ["https://", undefined],
])("a logo at %j is loaded from %j", (url, source) => expect(logoSource(url)).toBe(source));

describe("a page with a company's colours and logo", () => {
  const company = { name: "Lantern", website: null, footer_text: "" };
  const css = brandCss({ color: "#7a1f3d" })!;
  const logo = { url: 'https://cdn.example/l.png?a="><script>&b=1', source: "https://cdn.example" };
  const shown = (more: object) =>
    page("unsubscribed", http().http, { company: { ...company, ...more }, email: "a@b.example" });
  const policyOf = (more: object) => shown(more).headers!["content-security-policy"]!;
  const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

  test("its policy allows its style elements by hash, and only the logo's host", () => {
    const body = shown({ css, logo }).body as string;
    const styles = [...body.matchAll(/<style>([^<]*)<\/style>/g)].map(([, text]) => hashOf(text!));
    expect(styles).toHaveLength(2);
    const policy = policyOf({ css, logo }).split("; ");
    expect(policy).toContain(`style-src ${styles.join(" ")}`);
    expect(policy).toContain("img-src https://cdn.example");
    expect(policyOf({})).not.toContain("img-src");
  });

  test("its logo's address is escaped", () => {
    const body = shown({ logo }).body as string;
    expect(body).toContain('<img src="https://cdn.example/l.png?a=&quot;&gt;&lt;script&gt;&amp;b=1" alt=""');
    expect(body).not.toContain("<script");
  });

  test("uses the reader's language, else the company's, else English", () => {
    const languageOf = (acceptLanguage: string, language?: string) =>
      page("unsubscribed", http({ acceptLanguage }).http, { company: { ...company, language } }).headers![
        "content-language"
      ];
    expect(languageOf("es, de;q=0.5", "fr")).toBe("es");
    expect(languageOf("ja", "fr")).toBe("fr");
    expect(languageOf("", "fr")).toBe("fr");
    expect(languageOf("ja")).toBe("en");
    expect(languageOf("ja", "constructor")).toBe("en");
  });
});
