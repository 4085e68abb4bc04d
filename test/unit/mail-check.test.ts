import { walk } from "../../services/lib/design/check.ts";
import { mjmlOf } from "../../services/lib/design/compile.ts";
import type { Design } from "../../services/lib/design/design.ts";
import { htmlOfMjml } from "../../services/lib/made-html/mjml.ts";
import { mailFindings } from "../../services/lib/mail-check/check-mail.ts";
import type { Finding } from "../../services/lib/mail-check/finding.ts";
import { CLIPPED_BYTES } from "../../services/lib/mail-check/finding.ts";

const page = (body: string, head = "") => `<html lang="en"><head>${head}</head><body>${body}</body></html>`;
const rulesIn = (html: string) => mailFindings(html).map(({ rule }) => rule);

test.each<[rule: string, bad: string, good: string]>([
  ["contrast", '<p style="color:#999">Pale</p>', '<p style="color:#595959">Dark</p>'],
  ["contrast", '<td bgcolor="#7a1f3d">Black</td>', '<td bgcolor="#7a1f3d"><font color="white">White</font></td>'],
  // 3:1 is enough for large text.
  ["contrast", '<p style="color:#888">Small</p>', '<h1 style="color:#888">Large</h1>'],
  ["contrast", '<a href="https://a.example/" style="color:#ff0">Yellow</a>', '<p style="color:[[colour]]">Unknown</p>'],
  ["contrast", '<p style="color:#fff">On white</p>', '<p style="background:url(a.png);color:#fff">On an image</p>'],
  ["contrast", '<p style="color:#fff">Seen</p>', '<p style="color:#fff;display:none">Hidden</p>'],
  ["alt", '<img src="a.png">', '<img src="a.png" alt="Two books">'],
  ["alt", '<img src="a.png" alt="" width="300">', '<img src="line.png" alt="" width="20">'],
  ["link-text", '<a href="https://a.example/"></a>', '<a href="https://a.example/">Our offers</a>'],
  ["link-text", '<a href="https://a.example/">Click here!</a>', '<a href="https://a.example/">[[title]]</a>'],
  ["link-text", '<a href="https://a.example/">hier klicken</a>', '<a href="https://a.example/">Hier gibt es Tee</a>'],
  [
    "link-text",
    '<a href="https://a.example/">https://a.example/</a>',
    '<a href="https://a.example/"><img src="a" alt="A"></a>',
  ],
  ["heading-order", "<h1>A</h1><h3>B</h3>", "<h1>A</h1><h2>B</h2><h3>C</h3><h2>D</h2>"],
  ["heading-empty", "<h1> </h1>", "<h1>[[title]]</h1>"],
  ["table-role", "<table><tr><td>A</td></tr></table>", '<table role="presentation"><tr><td>A</td></tr></table>'],
  ["table-role", '<table role="none"><tr><th>A</th></tr></table>', "<table><tr><th>A</th></tr></table>"],
  [
    "table-header",
    "<table><tr><td>A</td><td>1</td></tr><tr><td>B</td><td>2</td></tr></table>",
    "<table><tr><th>A</th><td>1</td></tr><tr><th>B</th><td>2</td></tr></table>",
  ],
])("accessibility: %s", (rule, bad, good) => {
  expect(rulesIn(page(bad))).toEqual([rule]);
  expect(rulesIn(page(good))).toEqual([]);
});

test.each([
  '<a href="&#106;ava\nscript:alert(1)">Offers</a>',
  '<map name="m"><area href="VBScript:x" alt="A"></map>',
  '<p hidden><a href=" data:text/html,x">Offers</a></p>',
])("a link that would run something is an error: %s", (link) => {
  expect(mailFindings(page(link))).toContainEqual(expect.objectContaining({ kind: "link", rule: "scheme" }));
});

test("links to the domains for examples, where the starters lead, are reported", () => {
  const rulesOf = (href: string) => rulesIn(page(`<a href="${href}">Our new story</a>`));
  for (const href of ["https://example.com/story", "HTTP://www.Example.ORG"])
    expect(rulesOf(href)).toEqual(["example"]);
  for (const href of ["https://example.community/", "https://shop.example.com/"]) expect(rulesOf(href)).toEqual([]);
});

test("ordinary links are not reported, and images may use data:", () => {
  const links = ["https://a.example/?q=javascript:x", "mailto:a@b.example", "[[url]]", "#data:", ""];
  const html = links.map((href) => `<a href="${href}">Offers</a><img src="data:image/gif;base64,AA" alt="A">`).join("");
  expect(rulesIn(page(html))).not.toContain("scheme");
});

test("the language of a mail is declared", () => {
  expect(rulesIn("<p>Hello</p>")).toEqual(["language"]);
  expect(rulesIn('<div lang="en"><p>Hello</p></div>')).toEqual(["language"]);
});

test("colours of a style sheet count", () => {
  const sheet = "<style>p { color: #aaa; background: #fff }</style>";
  expect(rulesIn(page("<p>Pale</p>", sheet))).toEqual(["contrast"]);
  expect(rulesIn(page("<p>Dark</p>", sheet.replace("#aaa", "#333")))).toEqual([]);
});

test.each<[feature: string, html: string, clients: string[]]>([
  ["display:flex", '<div style="display:flex">A</div>', ["outlook_classic"]],
  ["<video>", "<video></video>", ["gmail", "outlook_classic", "outlook", "yahoo"]],
  ["image/webp", '<img src="https://a.example/a.webp?v=1" alt="A">', ["outlook_classic"]],
  [
    "linear-gradient()",
    '<p style="background-color:#fff;background-image:linear-gradient(#fff,#eee)">A</p>',
    ["outlook_classic", "outlook", "yahoo"],
  ],
  ["unit rem", '<p style="margin:2rem">A</p>', ["outlook_classic", "yahoo"]],
  ["var()", '<p style="margin:var(--a)">A</p>', ["gmail", "outlook_classic", "outlook", "yahoo"]],
  [":nth-child", "<style>td:nth-child(2) { padding: 0 }</style>", ["gmail", "outlook_classic", "outlook", "yahoo"]],
])("support: %s", (feature, html, clients) => {
  const found = mailFindings(page(html)).find(({ rule }) => rule === feature);
  expect(found).toMatchObject({ kind: "support", clients });
  expect(found!.message).toMatch(/^[A-Z].* not support .+\. .+\.$/);
  expect(found!.fix).toMatch(/\.$/);
});

test("what no reader notices is no finding", () => {
  expect(
    rulesIn(
      page(
        '<p style="border-radius:4px;overflow:visible;mso-line-height-rule:exactly">A</p>',
        "<style>@media (max-width:480px) { .a { width:100% } } a:hover { text-decoration:underline }</style>",
      ),
    ),
  ).toEqual([]);
});

test("a mail that Gmail clips", () => {
  const found = mailFindings(page(`<p>${"a ".repeat(CLIPPED_BYTES / 2)}</p>`));
  expect(found).toMatchObject([{ kind: "weight", rule: "size", severity: "error", clients: ["gmail"] }]);
});

test("hostile HTML is read in time", () => {
  for (const html of ["<div>".repeat(200_000), "<a href=x>".repeat(50_000), "<table><tr>".repeat(50_000)]) {
    expect(mailFindings(html).length).toBeGreaterThan(0);
  }
}, 10_000);

test.each(["(", "'", "&quot;", "a:url("])(
  "a style attribute of 200,000 characters is read in time: %s",
  (hostile) => {
    const style = `;${hostile.repeat(200_000 / hostile.length)}`;
    expect(rulesIn(`${page(`<p style="color:#999${style}">Pale</p>`)}<style>p{color:red}</style>`)).toEqual([
      "size",
      "contrast",
    ]);
  },
  5_000,
);

test("a finding names the path of its block, and the mail itself has no marks", () => {
  const inColumn = (...blocks: object[]) => ({ type: "section", columns: [{ blocks }] });
  const design = {
    version: 1,
    settings: { language: "en" },
    blocks: [
      inColumn({ type: "heading", text: "Fine" }),
      {
        type: "if",
        variable: "vip",
        blocks: [inColumn({ type: "text" }, { type: "heading", text: "Pale", color: "#dddddd" })],
      },
      inColumn(
        { type: "html", html: '<video src="a.mp4"></video>' },
        { type: "saved", id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b" },
        { type: "button", text: "click here", href: "https://a.example/" },
      ),
    ],
  } as unknown as Design;
  const brand = {
    companyName: "Lantern",
    footerText: "",
    logoUrl: "",
    colours: { primary: "#7a1f3d", on_primary: "#ffffff", background: "#ffffff", text: "#222222" },
    headingFont: "arial",
    font: "arial",
    buttonRadius: 6,
  } as const;
  const saved = new Map([
    ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b", [{ type: "image", src: "https://a.example/a.png" }]],
  ]);
  const paths = new Map([...walk(design.blocks)].map(([block, path]) => [block, path]));
  const { html } = htmlOfMjml(mjmlOf(design, { brand, saved, paths }));
  const at = (rule: string) => mailFindings(html!).find((one: Finding) => one.rule === rule)?.path;
  expect(at("contrast")).toBe("blocks[1].blocks[0].columns[0].blocks[1]");
  expect(at("<video>")).toBe("blocks[2].columns[0].blocks[0]");
  expect(at("alt")).toBe("blocks[2].columns[0].blocks[1]");
  expect(at("link-text")).toBe("blocks[2].columns[0].blocks[2]");
  expect(htmlOfMjml(mjmlOf(design, { brand, saved })).html).not.toContain("<!--block");
});
