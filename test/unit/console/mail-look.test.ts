import { lookOf, sentencesPage, viewOf } from "../../../services/console/mail-look.ts";
import { bytesOf, sizeText } from "../../../services/lib/size-text.ts";

const look = (html: string, view: "desktop" | "dark" = "desktop") => lookOf({ html, text: "" }, view);
const BASE = '<base target="_blank">';

describe("a mail in the editor's preview", () => {
  test("is light or dark as chosen, whatever the person's own device prefers", () => {
    const css =
      "<head><style>@media (prefers-color-scheme: dark){a{}} @media (prefers-color-scheme:LIGHT){b{}}</style>";
    expect(look(css)).toContain("@media (max-width:0){a{}} @media (min-width:0){b{}}");
    expect(look(css, "dark")).toContain("@media (min-width:0){a{}} @media (max-width:0){b{}}");
    const both = '<head><meta name="color-scheme" content="light dark"><style>:root{color-scheme: light dark}</style>';
    expect(look(both, "dark")).toContain('content="dark"><style>:root{color-scheme: dark}');
    expect(look(both)).toContain('content="light"><style>:root{color-scheme: light}');
    expect(look("<p>prefers nothing</p>", "dark")).toBe(`${BASE}<p>prefers nothing</p>`);
  });

  test("follows its own colour-scheme rules, in any spelling", () => {
    const html = `<head><meta name="color-scheme" content="light dark"><style>:root { color-scheme: only light dark }
    @media (prefers-color-scheme: dark) { p { color: white } } @media ( prefers-color-scheme:light ) { p { color: red } }</style>`;
    expect(look(html, "dark")).toContain(`<meta name="color-scheme" content="dark"><style>:root { color-scheme: dark }
    @media (min-width:0) { p { color: white } } @media ( max-width:0 ) { p { color: red } }</style>`);
    expect(look(html)).toContain("@media (max-width:0) { p { color: white } }");
    expect(look('<head><meta content="light dark" name=color-scheme>', "dark")).toContain('<meta content="dark" name');
    expect(look("<p>light dark</p>", "dark")).toContain("<p>light dark</p>");
  });

  test.each(["<meta color-scheme ", "<head ", "<html ", "<!doctype ", `<meta color-scheme content=${" ".repeat(50)}`])(
    "takes linear time for many unclosed tags: %s",
    (tag) => {
      const startedMs = performance.now();
      look(tag.repeat(20_000));
      look(`<meta color-scheme content=${" ".repeat(200_000)}x>`);
      expect(performance.now() - startedMs).toBeLessThan(2_000);
    },
  );

  test("has links that lead nowhere, and keeps its document type", () => {
    expect(look("<!doctype html><html lang=en><head><title>T</title>")).toBe(
      `<!doctype html><html lang=en><head>${BASE}<title>T</title>`,
    );
    expect(look("<!DOCTYPE html><p>x")).toBe(`<!DOCTYPE html>${BASE}<p>x`);
    expect(look("<html><header>x")).toBe(`<html>${BASE}<header>x`);
  });

  test("is its text part with all markup escaped", () => {
    const text = lookOf({ html: "<p>not this</p>", text: "a < b & <script>" }, "text");
    expect(text).toContain("a &lt; b &amp; &lt;script&gt;");
    expect(text).not.toContain("not this");
    expect(sentencesPage(["<b>"])).toContain("<p>&lt;b&gt;</p>");
  });

  test("is shown for the desktop by default", () => {
    expect(["phone", "DARK", undefined].map(viewOf)).toEqual(["phone", "desktop", "desktop"]);
  });
});

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1_024, "1.0 KB"],
  [10 * 1024 * 1024, "10 MB"],
  [123_456_789, "118 MB"],
  [1_000 * 1024 * 1024, "1.0 GB"],
  [5e12, "4.5 TB"],
])("%d bytes are shown as %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test("a size is parsed with its unit; other text is rejected", () => {
  expect(["5GB", "1.5 mb", "10KB", "2TB"].map(bytesOf)).toEqual([
    5 * 1024 ** 3,
    1.5 * 1024 ** 2,
    10_240,
    2 * 1024 ** 4,
  ]);
  expect(["", "5", "GB", "-5GB", "5 PB", "1e3MB"].map(bytesOf)).toEqual(Array(6).fill(undefined));
});
