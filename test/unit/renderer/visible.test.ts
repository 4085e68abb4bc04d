/**
 * Added content (footer, pixel) is placed where readers see it, and only visible links count as a way to unsubscribe.
 */
import { bodyEnd, showsAlways } from "../../../services/renderer/bodies/visible.ts";
import { read } from "../../support/message.ts";
import { makeMail } from "../../support/render.ts";

const html = async (body: string, attributes: Record<string, unknown> = {}) =>
  (await read((await makeMail({ body }, { attributes })).message)).html;

const FOOTER = /<div style="margin:32px[^>]*>.*?<\/div>\n<img [^>]*\/open\/[^>]*>/s;
const PLACE = "¦";

describe("footer and pixel", () => {
  test.each([
    ["a comment behind the document", "<html><body><p>x</p>¦</body></html><!-- </body> end -->"],
    ["a comment between the end tags", "<html><body>x¦</body><!-- </body> --></html>"],
    ["a comment without a tag of the body", "<p>x</p><!-- </body></html> -->¦"],
    ["a conditional comment", "<html><body>x¦</body></html><!--[if mso]></body></html><![endif]-->"],
    ["a comment that only other readers skip", "<body>x<!--[if !mso]><!--></p><!--<![endif]-->¦</body>"],
    ["a comment that ends in --!>", "<body>x<!-- </body> --!>¦</body><!--x-->"],
    ["an empty comment", "<body>x<!-->¦</body><!--->"],
    ["a comment that seems to end at once", "<body>x¦</body><!--!> </body> -->"],
    ["a script", "<body>x¦</body><script>'</body>'</script>"],
    ["a style", "<body>x¦</body><style>a:after{content:'</body>'}</style>"],
    ["a title", "<title></body></title><p>x</p>¦"],
    ["a field for text", "<body><textarea></body></textarea>¦</BODY\n></html>"],
    ["an attribute", "<body><p title='</body>'>x</p>¦</body ><p title=\"</body>\">"],
    ["an attribute with tags of the template", "<body><p title=[[a/b]]</body>x¦</body>"],
    ["a declaration", "<!DOCTYPE html><body>x¦</body><?xml </body ?>"],
    ["a condition", "<body>x[[#if x]]</body></html>[[/if]]¦"],
    ["both branches of a condition", "[[#if x]]<body>a</body></html>[[#else]]<body>b</body></html>[[/if]]¦"],
    ["a condition, outside of which it is there, too", "<body>x¦</body>[[#if x]]</body>[[/if]]"],
    ["a comment that never ends", "<p>x</p>¦<!-- </body> x"],
    ["a tag that never ends", '<p>x</p>¦<a href="https://a.example/'],
    ["a style that never ends", "<p>x</p>¦<style>p{} </body>"],
    ["a comment that never ends in a condition", "<p>x</p>¦[[#if x]]<!-- [[/if]]"],
    ["no tag but only its likeness", "<p>1 </ body> </bodyguard> x¦"],
  ])("are not placed in %s", async (_name, marked) => {
    const body = marked.replace(PLACE, "");
    expect(`${body.slice(0, bodyEnd(body))}${PLACE}${body.slice(bodyEnd(body))}`).toBe(marked);
    expect(await html(body)).toMatch(FOOTER);
  });

  test("are placed visibly, and in the text part, wherever the body ends", async () => {
    const body = "[[#if x]]<body>a</body></html>[[#else]]<body>b</body></html>[[/if]]";
    const { text } = await read((await makeMail({ body })).message);
    expect(text).toMatch(/^b\s+ACME\nUnsubscribe \(https:/);
  });
});

const LINK = '<a href="[[unsubscribe_url]]">x</a>';

describe("an unsubscribe link", () => {
  test.each([
    LINK,
    "[[unsubscribe_url]]",
    "<A title='a>b' class=\"[[a]]\" href = '[[ unsubscribe_url ]]' >x</A>",
    "<a href=[[unsubscribe_url]]#now>x</a>",
    `<!-- [[unsubscribe_url]] -->${LINK}`,
    `<!--[if mso]><v:rect href="[[unsubscribe_url]]"/><![endif]--><!--[if !mso]><!-->${LINK}<!--<![endif]-->`,
    `[[#if a]]<p>${LINK}</p>[[#else]][[unsubscribe_url]][[/if]]`,
    `[[#if a]][[#if b]]${LINK}[[#else]]${LINK}[[/if]][[#else]]${LINK}[[/if]]`,
    `[[#if unsubscribe_url]]${LINK}[[/if]]`,
    `<style>a{}</style><title>t</title>${LINK}`,
    "[[[unsubscribe_url]]]",
    '<a href="https://a.example/?to=[[unsubscribe_url]]">x</a>',
  ])("is recognised in %s", async (body) => {
    expect(showsAlways(body, "unsubscribe_url")).toBe(true);
    expect(await html(body)).not.toContain("Preferences");
  });

  test.each([
    "<p>unsubscribe_url</p>",
    `<!-- ${LINK} -->`,
    `<!-- -- > ${LINK} -->`,
    `<!--[if mso]>${LINK}<![endif]-->`,
    "<!--[if mso]><v:roundrect href='[[unsubscribe_url]]'></v:roundrect><![endif]-->",
    `[[#if x]]${LINK}[[/if]]`,
    `[[#if x]]x[[#else]]${LINK}[[/if]]`,
    `[[#if x]]${LINK}[[#else]]<!-- ${LINK} -->[[/if]]`,
    `[[#each x]]${LINK}[[/each]]`,
    '<a href="[[#if x]][[unsubscribe_url]][[/if]]">x</a>',
    `<style>${LINK}</style>`,
    `<script>${LINK}</script>`,
    `<title>[[unsubscribe_url]]</title>`,
    `<textarea>${LINK}</textarea>`,
    '<p title="[[unsubscribe_url]]">x</p>',
    '<a data-href="[[unsubscribe_url]]">x</a>',
    '<a name="[[unsubscribe_url]]" href="https://a.example/">x</a>',
    '<link rel="help" href="[[unsubscribe_url]]">',
    "<p title=\"<a href='[[unsubscribe_url]]'>\">x</p>",
    "\\[[unsubscribe_url]]",
    "[[#if unsubscribe_url]]x[[/if]]",
    "[[x.unsubscribe_url]]",
    `<p>x</p><!-- ${LINK}`,
    `</a href="[[unsubscribe_url]]">`,
  ])("is not recognised in %s, which gets the footer", async (body) => {
    expect(showsAlways(body, "unsubscribe_url")).toBe(false);
    expect(await html(body)).toContain("Preferences");
  });
});

describe("any body is scanned in linear time:", () => {
  test.each([
    ["comments", "<!-- [[unsubscribe_url]] -->".repeat(30_000)],
    ["conditional comments", "<!--[if mso]><a href='[[unsubscribe_url]]'></a><![endif]-->".repeat(15_000)],
    ["comments that end late", "<!--[if mso]><!--".repeat(50_000)],
    ["ends of bodies in conditions", "[[#if x]]</body>[[/if]]".repeat(35_000)],
    ["declarations", "<!".repeat(400_000)],
    ["attributes", `<p ${"title='[[unsubscribe_url]]' ".repeat(30_000)}>`],
    ["titles", "<title>".repeat(100_000)],
  ])("%s", async (_name, body) => {
    const start = performance.now();
    showsAlways(body, "unsubscribe_url");
    bodyEnd(body);
    expect(performance.now() - start).toBeLessThan(3_000);
  });
});
