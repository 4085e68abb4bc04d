/** Addresses without a scheme, or with a mistyped one, open nothing in an email. */
import { brokenLink, brokenLinks, withoutBrokenLinks } from "../../../services/renderer/repair/broken-links.ts";

test.each([
  ["www.shop.example.com", "https://www.shop.example.com"],
  ["WWW.shop.example.com/a?b=c", "https://WWW.shop.example.com/a?b=c"],
  ["www.[[domain]]/x", "https://www.[[domain]]/x"],
  ["shop.com/offers", "https://shop.com/offers"],
  ["shop.com:8080", "https://shop.com:8080"],
  ["bücher.de", "https://bücher.de"],
  ["//shop.com/x", "https://shop.com/x"],
  ["http:/one.com", "http://one.com"],
  ["https:one.com", "https://one.com"],
  ["https:///one.com", "https://one.com"],
  ["htps://one.com", "https://one.com"],
  ["htp://one.com", "http://one.com"],
  ["htttps://one.com", "https://one.com"],
  ["ttps://one.com", "https://one.com"],
  ["hhtp://one.com", "http://one.com"],
  ["httos://one.com", "https://one.com"],
  ["https//one.com", "https://one.com"],
  ["https;//one.com", "https://one.com"],
  ["https: //one.com/[[x]]", "https://one.com/[[x]]"],
  [" ann@shop.com ", "mailto:ann@shop.com"],
  ["page.html", undefined],
  ["/path", undefined],
  ["?a=b", undefined],
  ["http://", undefined],
  ["https://exa mple.com", undefined],
  ["C:\\Users\\me\\logo.png", undefined],
  ["file:///home/me/logo.png", undefined],
])("the link %s becomes %s", (address, meant) => {
  expect(brokenLink(address)).toEqual({ address, ...(meant === undefined ? {} : { meant }) });
});

test.each([
  "https://one.com",
  "HTTP://one.com/[[x]]",
  "https://[[host]]/",
  "mailto:a@b.com",
  "tel:+49 1",
  "sms:1",
  "ftp://one.com",
  "tftp://one.com",
  "myapp://open",
  "cid:logo",
  "data:image/png;base64,AA",
  "#top",
  "[[url]]",
  "[[#if a]]https://a.com[[/if]]",
  "*|ARCHIVE|*",
  "{{ url }}",
  "%unsubscribe_url%",
  "",
])("the link %s is unchanged", (address) => expect(brokenLink(address)).toBeUndefined());

test("broken links are found and fixed in every URL, and only there", () => {
  const html = `<a href="www.a.com/?x=1&amp;y=2">www.a.com</a> <area href='//b.com'><img src=//c.com/x.png>
<td background="http:/d.com/y.png" style="background:url(//e.com/z.png)"><a href="page.html">p</a><a href="www.a.com/[[R&D]]">q</a>
<!--[if mso]><v:fill src="//f.com/"/><![endif]--><a href="https://ok.com">ok</a><!-- <a href="www.no.com"> -->`;
  expect(brokenLinks(html).map(({ address }) => address)).toEqual([
    "www.a.com/?x=1&y=2",
    "//b.com",
    "//c.com/x.png",
    "http:/d.com/y.png",
    "//e.com/z.png",
    "page.html",
    "www.a.com/[[R&D]]",
    "//f.com/",
  ]);
  const mended = withoutBrokenLinks(html);
  expect(mended).toBe(
    html
      .replace('"www.a.com/?x', '"https://www.a.com/?x')
      .replace("'//b", "'https://b")
      .replace("//c.com", "https://c.com")
      .replace("http:/d", "http://d")
      .replace("//e.com", "https://e.com")
      .replace('"www.a.com/[[', '"https://www.a.com/[[')
      .replace("//f.com", "https://f.com"),
  );
  expect(brokenLinks(mended).map(({ address }) => address)).toEqual(["page.html"]);
});
