/** HTML of what somebody typed as plain text. */
import { blocksOfTyped, htmlOfTyped, isTypedText, typedTextOf } from "../../services/lib/made-html/typed-text.ts";

test("typed text has paragraphs at empty lines, and its markup is escaped", () => {
  expect(blocksOfTyped("Dear [[first_name]],\r\n\r\n1 < 2 & 3\nnext\n \n\n")).toBe(
    "<p>Dear [[first_name]],</p>\n<p>1 &lt; 2 &amp; 3<br>\nnext</p>",
  );
  expect(blocksOfTyped('[[R&D]] & say "it\'s"')).toBe("<p>[[R&D]] &amp; say &quot;it&#39;s&quot;</p>");
});

test("lines that begin with a dash, a star or a bullet are a list", () => {
  expect(blocksOfTyped("We have\n- tea & milk\n- [[item]]\nand more\n\n* a\n* b\n\n• c\n-d\n-- \nMax")).toBe(
    "<p>We have</p><ul>\n<li>tea &amp; milk</li>\n<li>[[item]]</li>\n</ul><p>and more</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ul>\n<li>c</li>\n</ul><p>-d<br>\n-- <br>\nMax</p>",
  );
});

test.each([
  [
    "See https://example.com/a?b=1&c=2.",
    '<p>See <a href="https://example.com/a?b=1&amp;c=2">https://example.com/a?b=1&amp;c=2</a>.</p>',
  ],
  ["(http://example.com)", '<p>(<a href="http://example.com">http://example.com</a>)</p>'],
  ["www.example.com, now", '<p><a href="https://www.example.com">www.example.com</a>, now</p>'],
  [
    "https://a.example/?m=[[email]]&n=[[R&D]] x",
    '<p><a href="https://a.example/?m=[[email]]&amp;n=[[R&D]]">https://a.example/?m=[[email]]&amp;n=[[R&D]]</a> x</p>',
  ],
  ["javascript:alert(1)", "<p>javascript:alert(1)</p>"],
])("web addresses become links: %s", (typed, html) => expect(blocksOfTyped(typed)).toBe(html));

test("typed text gets the default layout, once, and is readable on a phone", () => {
  const html = htmlOfTyped("Hello\n\nyou");
  for (const part of ["<!doctype html>", "width=device-width", "font:16px", "<p>Hello</p>\n<p>you</p>"]) {
    expect(html).toContain(part);
  }
  expect(htmlOfTyped(html)).toBe(html);
});

test("HTML stays as it was written, and so does text that may contain some", () => {
  for (const html of ["<p>Hi</p>", "<!-- note -->x", "Hi<br/>you", "[[[html]]]", "", "  \n "]) {
    expect(htmlOfTyped(html)).toBe(html);
    expect(isTypedText(html)).toBe(false);
  }
});

test.each([
  "Hello",
  'Dear [[first_name]],\n\n1 < 2 & 3 &amp; "it\'s"\nnext\n\n[[R&D]] &lt;',
  "We have\n- tea & milk\n- [[item]]\nand more\n\n- a\n\n- b\n\nwww.example.com, (https://a.example/?m=[[email]]&n=1)",
  "Grüße 📚\n\n<br\n$1 $& </",
])("the HTML of a typed text is shown again as it was typed: %j", (typed) => {
  expect(htmlOfTyped(typed)).not.toBe(typed);
  expect(typedTextOf(htmlOfTyped(typed))).toBe(typed);
  expect(typedTextOf(htmlOfTyped(typed).replaceAll("\n", "\r\n").trim())).toBe(typed);
});

test("HTML that somebody changed, or wrote, is shown as HTML", () => {
  const made = htmlOfTyped("Hello\n\nyou");
  for (const html of [made.replace("Hello", "<b>Hello</b>"), made.replace("600px", "700px"), "<p>Hi</p>", "Hi", ""]) {
    expect(typedTextOf(html)).toBe(html);
  }
});

test("a text with a syntax error stays as it was typed, so that the error names its line", () => {
  expect(htmlOfTyped("Hello\n\n[[#if x]]")).toBe("Hello\n\n[[#if x]]");
});

test("a text that begins a tag again and again is scanned in linear time", () => {
  const started = performance.now();
  for (const piece of ["<a ", '<td style="url(', "[[", "www.", "https://["])
    isTypedText(piece.repeat(300_000 / piece.length));
  expect(performance.now() - started).toBeLessThan(2_000);
  expect(["a <b c", "a <b> c", "1 < 2 > 0"].map(isTypedText)).toEqual([true, false, true]);
});
