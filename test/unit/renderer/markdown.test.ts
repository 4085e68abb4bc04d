import fc from "fast-check";
import { makeHtml } from "../../../services/lib/made-html/make-html-task.ts";
import { htmlOfMarkdown, MARKDOWN_PLACE } from "../../../services/lib/made-html/markdown.ts";

const flat = (markdown: string) => htmlOfMarkdown(markdown).replace(/\n+/g, "");

test.each([
  ["# Hello [[first_name|default:a *friend*]]", "<h1>Hello [[first_name|default:a *friend*]]</h1>"],
  [
    "**[[a_b]]** [shop](https://x.example/?c=[[city|urlencode]])",
    '<p><strong>[[a_b]]</strong> <a href="https://x.example/?c=[[city|urlencode]]">shop</a></p>',
  ],
  ["[[#if vip]]\nFor *you*\n[[#else]]\nAll\n[[/if]]", "[[#if vip]]<p>For <em>you</em></p>[[#else]]<p>All</p>[[/if]]"],
  ["Dear [[#if vip]]guest[[/if]],\r\nhello", "<p>Dear [[#if vip]]guest[[/if]],hello</p>"],
  ["[[#if vip]][[name]][[/if]]", "<p>[[#if vip]][[name]][[/if]]</p>"],
  [
    "You bought:\n[[#each items]]\n- [[this.name]]\n[[/each]]\nThanks",
    "<p>You bought:</p><ul>[[#each items]]<li>[[this.name]]</li>[[/each]]</ul><p>Thanks</p>",
  ],
  ["[[#if vip]]\n- a\n- b\n[[/if]]\nAll", "[[#if vip]]<ul><li>a</li><li>b</li></ul>[[/if]]<p>All</p>"],
  [
    "1. a\n[[#if vip]]\n1. b\n[[#else]]\n1. c\n[[/if]]\n1. d",
    "<ol><li>a</li>[[#if vip]]<li>b</li>[[#else]]<li>c</li>[[/if]]<li>d</li></ol>",
  ],
  [
    "[[#each items]]\n- [[this.name]]\n  - [[this.size]]\n[[/each]]",
    "<ul>[[#each items]]<li>[[this.name]]<ul><li>[[this.size]]</li></ul></li>[[/each]]</ul>",
  ],
  [
    "- a\n[[#each items]]\n  - [[this]]\n[[/each]]\n- b",
    "<ul><li>a<ul>[[#each items]]<li>[[this]]</li>[[/each]]</ul></li><li>b</li></ul>",
  ],
  [
    "[[#each a]]\n- [[this.name]]\n[[#each this.b]]\n  - [[this]]\n[[/each]]\n[[/each]]",
    "<ul>[[#each a]]<li>[[this.name]]<ul>[[#each this.b]]<li>[[this]]</li>[[/each]]</ul></li>[[/each]]</ul>",
  ],
  ["[[#each a]]\n- x\n\nText\n[[/each]]", "[[#each a]]<ul><li>x</li></ul><p>Text</p>[[/each]]"],
  ["Dear [[#if vip]]\nguest\n[[/if]]\nhi", "<p>Dear [[#if vip]]guest[[/if]]hi</p>"],
  ["```\nif\n[[#if vip]]\nyes\n[[/if]]\n```", "<pre><code>if[[#if vip]]yes[[/if]]</code></pre>"],
  [
    "<table>\n  [[#each a]]\n    <tr><td>[[this]]</td></tr>\n  [[/each]]\n</table>",
    "<table>[[#each a]]    <tr><td>[[this]]</td></tr>[[/each]]</table>",
  ],
  ["<div>\n[[#if vip]]\nSome *text*\n[[/if]]\n</div>", "<div>[[#if vip]]<p>Some <em>text</em></p>[[/if]]</div>"],
  [
    "<[[url]]>, `<[[url]]>`, https://[[domain]]",
    '<p><a href="[[url]]">[[url]]</a>, <code>&lt;[[url]]&gt;</code>, <a href="https://[[domain]]">https://[[domain]]</a></p>',
  ],
  ["\\[[name]] and \\[\\[name]]", "<p>\\[[name]] and \\[[name]]</p>"],
  [
    "| a | b |\n|---|---|\n| [[x|default:1]] | {{ y }} |",
    "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>[[x|default:1]]</td><td>{{ y }}</td></tr></tbody></table>",
  ],
  ["<b>[[[html]]]</b>", "<p><b>[[[html]]]</b></p>"],
  ["- [x] done", "<ul><li>☑ done</li></ul>"],
])("tags in Markdown stay as written: %j", (markdown, html) => expect(flat(markdown)).toBe(html));

const HEAD = "<thead><tr><th>Book</th><th>Price</th></tr></thead>";
const row = (...cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;

test.each([
  [
    "[[#each items]]\n| [[this.name]] | [[this.price]] |\n[[/each]]\nThanks",
    `[[#each items]]${row("[[this.name]]", "[[this.price]]")}[[/each]]`,
    "<p>Thanks</p>",
  ],
  [
    "| A | 1 |\n[[#each items]][[#if this.price]]\n| [[this.name]] | 2 |\n[[/if]][[/each]]\n| Total | 3 |",
    `${row("A", "1")}[[#each items]][[#if this.price]]${row("[[this.name]]", "2")}[[/if]][[/each]]${row("Total", "3")}`,
    "",
  ],
  [
    "[[#if vip]]\n| A | 1 |\n[[#else]]\n| B | 2 |\n[[/if]]",
    `[[#if vip]]${row("A", "1")}[[#else]]${row("B", "2")}[[/if]]`,
    "",
  ],
])("conditions and loops stand around rows of a table: %j", (markdown, rows, after) => {
  const table = `<table>${HEAD}<tbody>${rows}</tbody></table>`;
  expect(flat(`| Book | Price |\n|---|---|\n${markdown}`)).toBe(table + after);
  const whole = "[[#if vip]]\n| Book | Price |\n|---|---|\n| A | 1 |\n[[/if]]";
  expect(flat(whole)).toBe(`[[#if vip]]<table>${HEAD}<tbody>${row("A", "1")}</tbody></table>[[/if]]`);
});

/** Pieces of Markdown. `(` opens a condition or loop, `)` ends it. */
const PIECES = ["", "- a", "  - b", "1. c", "text", "  more", "> q", "# h", "    code", "| x | y |", "|---|---|"];
const WHOLE = ["```\ncode\n```", "```\n(\nab\n)\n```", "a | b\n--|--\nc | d", "| a |\n|---|\n(\n| b |\n)", "("];
const pieces = fc.array(fc.constantFrom(...PIECES, ...WHOLE, "(", "  (", ")", "  )", "))", ")("), { maxLength: 15 });

function templateOf(given: string[]): string {
  const open: string[] = [];
  const tag = (sign: string, no: number) => {
    if (sign === ")") return open.length > 0 ? `[[/${open.pop()}]]` : "";
    open.push(no % 2 === 0 ? "if" : "each");
    return `[[#${open.at(-1)} a]]`;
  };
  const text = given.join("\n").replace(/[()]/g, tag);
  return [text, ...open.toReversed().map((name) => `[[/${name}]]`)].join("\n");
}

const TAGS = /\[\[[#/]\w+[^\]]*\]\]/g;

test("conditions and loops keep their order, and enclose whole elements, wherever they stand in Markdown", () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const markdown = templateOf(given);
      const html = htmlOfMarkdown(markdown);
      expect(html.match(TAGS)).toEqual(markdown.match(TAGS));
      const open: string[] = [];
      for (const [part, opens, closes] of html.matchAll(/\[\[#(\w+)[^\]]*\]\]|\[\[\/(\w+)\]\]|<\/?\w[^>]*>/g)) {
        const name = opens ?? closes ?? /\w+/.exec(part)![0];
        if (closes || part.startsWith("</")) expect(open.pop()).toBe(name);
        else if (name !== "br" && name !== "hr") open.push(name);
      }
      expect(open).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test.each(["[[#if a]]\n- x\n[[/if]]\n", "[[#each a]]\n| x |\n[[/each]]\n", "<[[u]]>", "[[#if a]]\n\n<p>\n[[/if]]\n"])(
  "thousands of tags are placed in time: %j",
  (hostile) => {
    expect(htmlOfMarkdown(hostile.repeat(3_000)).match(/\[\[/g)).toHaveLength(6_000);
  },
  20_000,
);

test.each(["</mj-text></mj-column>", "<!-- open", "<mj-raw>", "<div><p", "]]> <![CDATA[ <script>if (a < b)</script>"])(
  "HTML in Markdown never breaks its frame: %j",
  (hostile) => {
    const body = `<mjml><mj-body><mj-section><mj-column><mj-text>${MARKDOWN_PLACE}</mj-text></mj-column></mj-section></mj-body></mjml>`;
    const { html = "", errors } = makeHtml({ body, markdown: `Before\n\n${hostile}`, isMjml: true, inlinesCss: false });
    expect(errors ?? html).toContain("<p>Before</p>");
  },
);
