import { subjectErrors, textErrors } from "../../../services/lib/template/template-errors.ts";
import { bodiesOf, htmlProgram } from "../../../services/renderer/bodies/bodies.ts";
import { run } from "../../../services/renderer/program/program.ts";
import { scopeOf } from "../../../services/renderer/program/scope.ts";
import { faultsOfBytes, read } from "../../support/message.ts";
import { contentOf, makeMail } from "../../support/render.ts";

const parts = async (content: Parameters<typeof makeMail>[0], variables = {}) => {
  const { message } = await makeMail(content, { variables });
  expect(faultsOfBytes(message)).toEqual([]);
  const { html, text } = await read(message);
  return { html: String(html), text: String(text) };
};
const FILLER = /(?:&#847;&zwnj;&nbsp;){100}/;

describe("the preheader", () => {
  test("is the first text of the HTML, hidden, with nothing of the body behind it, and not in the text part", async () => {
    const { html, text } = await parts(
      { preheader: "Six books for [[first_name]]", body: "<html><body class=x><p>Hello</p></body></html>" },
      { first_name: "Ann" },
    );
    expect(html).toMatch(
      /<body class=x><div style="display:none;[^"]*mso-hide:all">Six books for Ann(?:&#847;|&zwnj;|&nbsp;)+<\/div><p>/,
    );
    expect(html).toMatch(FILLER);
    expect(text).toMatch(/^Hello/);
    expect(text).not.toContain("Six books");
  });

  test("is text: neither it nor a value can become markup, not even as [[[raw]]]", async () => {
    const { html } = await parts(
      { preheader: "Tom & <b> \\[[x]] [[v]] [[[v]]] [[#if v]]yes[[/if]] [[w|default:<i>]]" },
      { v: '</div><script>"' },
    );
    const value = "&lt;/div&gt;&lt;script&gt;&quot;";
    expect(html).toContain(`>Tom &amp; &lt;b&gt; [[x]] ${value} ${value} yes &lt;i&gt;&#847;`);
  });

  test.each([
    ["<p>x</p>", "{P}<p>x</p>"],
    ["<!doctype html>\n<p>x</p>", "<!doctype html>{P}\n<p>x</p>"],
    ["<html><head><title>t</title></head>x</html>", "<html><head><title>t</title></head>{P}x"],
    [
      "<!-- <body> --><!--[if mso]><body><![endif]--><body>x",
      "<!-- <body> --><!--[if mso]><body><![endif]--><body>{P}x",
    ],
    ["[[#if a]]<body class=a>[[#else]]<body>[[/if]]x</body>", "<body class=a>{P}x"],
  ])("is placed where the text begins: %s", async (body, expected) => {
    const { html } = await parts({ preheader: "P", body, isTransactional: true, trackingEnabled: false }, { a: 1 });
    expect(html.replace(/<div style="display:none[^>]*>P[^<]*<\/div>/g, "{P}")).toContain(expected);
  });

  test("adds nothing to an email without one, and a blank one counts as none", async () => {
    const { html } = await parts({ preheader: " " });
    expect(html).not.toContain("display:none");
    expect((await parts({})).html).toBe(html);
  });

  test("is refused with a syntax error", () => {
    expect(subjectErrors("[[#if x]]")).toEqual(["[[#if …]] is never closed at line 1, column 1."]);
    expect(() => bodiesOf({ ...contentOf(), preheader: "[[#if x]]" })).toThrow(/never closed/);
  });
});

describe("a written text part", () => {
  test("replaces the derived one, with its values unchanged", async () => {
    const textBody =
      "Dear [[name]] & [[[name]]],\n\n\\[[x]] <b> [[#each items]]- [[this]]\n[[/each]]Out: [[unsubscribe_url]]";
    const { text, html } = await parts({ textBody }, { name: "<i>&</i>", items: ["a", "b"] });
    expect(text).toMatch(
      /^Dear <i>&<\/i> & <i>&<\/i>,\n\n\[\[x\]\] <b> - a\n- b\nOut: https:\/\/\S+\/unsubscribe\/\S+\s*$/,
    );
    expect(html).toContain("<p>Hello</p>");
  });

  test("gets the footer if it has no visible unsubscribe link, in the language of the HTML", async () => {
    const text = async (textBody: string, content = {}) =>
      (await parts({ textBody, companyName: "Café [[x]]", footerText: "Street 1", ...content })).text.trimEnd();
    const footer = /\n\nCafé \[\[x\]\]\nStreet 1\nUnsubscribe: https:\/\/\S+\nPreferences: https:\/\/\S+$/;
    expect(await text("Hello\n\n")).toMatch(footer);
    expect(await text("[[#if x]][[unsubscribe_url]][[/if]]Hello")).toMatch(footer);
    expect(await text("Hello", { body: '<html lang="de"><p>x</p></html>' })).toMatch(/Abmelden: https/);
    expect(await text("Hello", { isTransactional: true })).toBe("Hello");
  });

  test("is encoded like any other part, with any characters and line lengths", async () => {
    for (const textBody of ["x".repeat(3_000), "漢字".repeat(2_000), ".\n..\nFrom me\n \t\né".repeat(50)]) {
      expect((await parts({ textBody, isTransactional: true })).text.trimEnd()).toBe(textBody);
    }
  });

  test("is derived if blank, and nothing in it is too deep", async () => {
    expect((await parts({ textBody: " \n", isTransactional: true })).text.trim()).toBe("Hello");
    expect(textErrors("<a".repeat(2_000))).toEqual([]);
    expect(textErrors("a\n[[/if]]")).toEqual(["[[/if]] has no beginning at line 2, column 1."]);
  });
});

describe("an email as a web page", () => {
  const page = (body: string, given = {}) => {
    const source = { ...contentOf({ isTransactional: true }), subject: "News <for> [[name]]", language: "fr", body };
    const scope = scopeOf(
      { id: "018f0000-0000-7000-8000-0000000000ff", email: "a@b.example", variables: { name: '"</title><script>' } },
      { fallback: {}, tokens: null, preferencesUrl: () => "" },
    );
    return run(htmlProgram(bodiesOf({ ...source, ...given }).html, ""), scope).trimEnd();
  };
  const title = "<title>News &lt;for&gt; &quot;&lt;/title&gt;&lt;script&gt;</title>";

  test.each([
    ["<p>x</p>", `<!doctype html><html lang="fr"><head>${title}</head><p>x</p>`],
    ["<!doctype html><body>x</body>", `<!doctype html><html lang="fr"><head>${title}</head><body>x</body>`],
    ["<html><body>x</body></html>", `<html lang="fr"><head>${title}</head><body>x</body></html>`],
    ['<html lang="und"><head><meta name=a></head>x', `<html lang="fr"><head>${title}<meta name=a></head>x`],
    ["<html lang=''><head><title> </title></head>x", `<html lang="fr"><head>${title}</head>x`],
    ["<html LANG=de><head><title>Own</title></head>x", "<html LANG=de><head><title>Own</title></head>x"],
    ["<head></head>x", `<!doctype html><html lang="fr"><head>${title}</head>x`],
  ])("has the subject as its title, and a language: %s", (body, expected) => {
    expect(page(body)).toBe(expected);
  });

  test("has no preheader: nothing on a page is hidden", () => {
    expect(page("<p>x</p>", { preheader: "P" })).toBe(page("<p>x</p>"));
  });
});
