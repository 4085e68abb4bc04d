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
  ["\\[[name]] and \\[\\[name]]", "<p>\\[[name]] and \\[[name]]</p>"],
  [
    "| a | b |\n|---|---|\n| [[x|default:1]] | {{ y }} |",
    "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>[[x|default:1]]</td><td>{{ y }}</td></tr></tbody></table>",
  ],
  ["<b>[[[html]]]</b>", "<p><b>[[[html]]]</b></p>"],
  ["- [x] done", "<ul><li>☑ done</li></ul>"],
])("tags in Markdown stay as written: %j", (markdown, html) => expect(flat(markdown)).toBe(html));

test.each(["</mj-text></mj-column>", "<!-- open", "<mj-raw>", "<div><p", "]]> <![CDATA[ <script>if (a < b)</script>"])(
  "HTML in Markdown never breaks its frame: %j",
  (hostile) => {
    const body = `<mjml><mj-body><mj-section><mj-column><mj-text>${MARKDOWN_PLACE}</mj-text></mj-column></mj-section></mj-body></mjml>`;
    const { html = "", errors } = makeHtml({ body, markdown: `Before\n\n${hostile}`, isMjml: true, inlinesCss: false });
    expect(errors ?? html).toContain("<p>Before</p>");
  },
);
