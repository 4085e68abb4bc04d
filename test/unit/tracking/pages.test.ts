import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { catalogueFor, catalogues } from "../../../services/lib/i18n/languages.ts";
import { PAGE_CSP } from "../../../services/lib/page-style/page-style.ts";
import { page, wantsJson } from "../../../services/tracking/pages/page.ts";
import { http } from "../../integration/tracking/world.ts";

const FOLDER = join(import.meta.dirname, "../../../services/lib/page-style");
const css = readFileSync(join(FOLDER, "page.css"), "utf8");

/** Custom properties of the first block, overridden by the dark one. */
function colours(dark: boolean): Record<string, string> {
  const [light, darker] = [...css.matchAll(/:root\s*\{([^}]*)\}/g)].map(([, block]) =>
    Object.fromEntries([...block!.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name!, value!])),
  );
  return { ...light!, ...(dark ? darker! : {}) };
}

/** WCAG 2.1: relative luminance and contrast ratio. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}
function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}

describe.each([false, true])("the page colours (dark: %p)", (dark) => {
  const c = colours(dark);
  test.each([
    ["ink", "paper", 4.5],
    ["ink", "ground", 4.5],
    ["soft", "ground", 4.5],
    ["soft", "paper", 4.5],
    ["accent", "paper", 4.5],
    ["accent", "ground", 4.5],
    ["on-accent", "accent", 4.5],
    ["on-good", "good", 4.5],
    ["on-bad", "bad", 4.5],
    ["line", "paper", 3],
  ])("have for %s on %s a contrast of at least %d", (front, back, least) => {
    expect(contrast(c[front]!, c[back]!)).toBeGreaterThanOrEqual(least);
  });
});

describe("every page in every language", () => {
  const values = {
    company: { name: "Acme", website: "https://acme.example/", footer_text: "Main Street 1" },
    email: "ann@example.com",
    list: "News",
    saved: true,
    addressAsked: true,
    person: {
      email: "ann@example.com",
      first_name: "A",
      last_name: "B",
      subscribed: true,
      lists: [{ id: "1", name: "News", subscribed: true }],
    },
  };
  const names = [
    "unsubscribe",
    "unsubscribed",
    "confirm",
    "confirmed",
    "change-address",
    "changed-address",
    "preferences",
    "left-list",
  ] as const;
  const cases = names.flatMap((name) => Object.keys(catalogues).map((language) => ({ name, language })));

  test.each(cases)(
    "is complete: $name in $language has title, direction and labels, and no script",
    ({ name, language }) => {
      const body = page(name, http({ acceptLanguage: language }).http, values).body as string;
      expect(body).toMatch(new RegExp(`<html lang="${language}" dir="(ltr|rtl)">`));
      expect(body).toMatch(/<title>[^<]+ – Acme<\/title>/);
      expect(body.match(/<h1>/g)).toHaveLength(1);
      expect(body).toContain('name="viewport"');
      expect(body).not.toMatch(/<script|\son\w+=|style=|\{\w+\}/);
      // Visible fields have a label, by `for` or around them.
      for (const [input, type] of body.matchAll(/<input type="(\w+)"[^>]*>/g)) {
        const id = /id="([^"]+)"/.exec(input)?.[1];
        const labelled = id ? body.includes(`<label for="${id}">`) : body.includes(`<label class="choice">${input}`);
        expect(type === "hidden" || labelled).toBe(true);
      }
    },
  );

  test.each(names)("escapes names of company, person and lists: %s", (name) => {
    const shape = (shown: typeof values) => {
      const body = page(name, http({}).http, shown).body as string;
      return body.match(/<\/?[a-z][a-z0-9]*(?:\s+[\w-]+(?==))*/gi)!.join(" ");
    };
    for (const text of [
      "<script>alert(1)</script>",
      '"><img src=x onerror=alert(1)>',
      "' onfocus=alert(1) autofocus='",
      "</title></style></textarea><svg onload=alert(1)>",
      "{{ company }}{% raw %}{company}",
      "&lt;script&gt;",
    ]) {
      const hostile = {
        ...values,
        company: { ...values.company, name: text, footer_text: text },
        email: `${text}@example.com`,
        list: text,
        person: {
          ...values.person,
          email: `${text}@example.com`,
          first_name: text,
          last_name: text,
          lists: [{ id: "1", name: text, subscribed: true }],
        },
      };
      expect(shape(hostile)).toBe(shape(values));
    }
  });

  test("all catalogues have the same texts and placeholders", () => {
    const flat = (value: object, path = ""): [string, string][] =>
      Object.entries(value).flatMap(([key, text]) =>
        typeof text === "string" ? [[`${path}${key}`, text]] : flat(text, `${path}${key}.`),
      );
    const english = flat(catalogues.en!);
    const slots = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted();
    for (const catalogue of Object.values(catalogues)) {
      const texts = new Map(flat(catalogue));
      for (const [key, text] of english) {
        expect(texts.get(key)?.trim()).toBeTruthy();
        expect(slots(texts.get(key)!)).toEqual(slots(text));
      }
    }
    expect(readdirSync(join(import.meta.dirname, "../../../services/lib/i18n")).length).toBe(
      Object.keys(catalogues).length + 1,
    );
  });

  test("the policy allows only the one style element, by hash", () => {
    expect(PAGE_CSP).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
  });
});

test.each([
  ["", "en"],
  ["de", "de"],
  ["de-AT", "de"],
  ["fr;q=0.2, es;q=0.9", "es"],
  ["ja, AR;q=0.5", "ar"],
  ["__proto__, constructor", "en"],
  ["fr;q=0, es;q=0.1", "es"],
])("the language for Accept-Language %j is %s", (header, code) => expect(catalogueFor(header).code).toBe(code));

test.each([
  ["GET", "text/html,application/xhtml+xml,*/*;q=0.8", "", false],
  ["GET", "application/json", "", true],
  ["GET", "*/*", "", false],
  ["PUT", "*/*", "application/json", true],
  ["POST", "", "", false],
  ["POST", "*/*", "application/json", true],
  ["POST", "application/json, text/html;q=0.5", "", true],
  ["POST", "application/json;q=0.5, text/html", "", false],
])("%s with Accept %j and Content-Type %j is answered as JSON: %p", (method, accept, contentType, expected) => {
  expect(wantsJson(http({ method, accept, contentType }).http)).toBe(expected);
});
