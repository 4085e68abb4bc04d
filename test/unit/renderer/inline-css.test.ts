import { withInlinedCss } from "../../../services/lib/made-html/inline-css.ts";
import { makeHtml } from "../../../services/lib/made-html/make-html-task.ts";

/** The `style` of each element, in order. */
const styles = (html: string) => [...html.matchAll(/style="([^"]*)"/g)].map((match) => match[1]);
const sheet = ".a{color:red;margin:1px} p{font-size:10px}";

describe("inlining styles", () => {
  test("writes each rule into the elements it applies to, by specificity, and removes it from the sheet", () => {
    expect(withInlinedCss(`<style>${sheet} p.a{color:blue}</style><p class=a>x</p><div>y</div>`)).toBe(
      '<style></style><p style="font-size: 10px; margin: 1px; color: blue;" class=a>x</p><div>y</div>',
    );
  });

  test("an element's own style wins, except over !important", () => {
    const html = withInlinedCss(
      `<style>${sheet} .b{color:red !important}</style><p class="a" style="color:blue">x</p><i class="b" style="color:blue">y</i>`,
    );
    expect(styles(html)).toEqual(["font-size: 10px; margin: 1px; color: blue;", "color: red;"]);
  });

  test("media queries, imports, fonts, other at-rules and rules for states stay as they were written", () => {
    const kept = [
      '@import url("https://fonts.example/a.css?x={};y");',
      "@font-face{font-family:F;src:url(f.woff)}",
      "a:hover, a:focus{color:green}",
      "p::before{content:'}'}",
      "@media (max-width:600px){.a{color:blue !important} /* } */}",
      "@supports (display:grid){.a{display:grid}}",
    ];
    const html = withInlinedCss(`<style>/* c */${kept.join(`\n${sheet}\n`)}</style><p class="a">x</p>`);
    expect(html).toContain(`<style>\n${kept.join("\n").replace(" /* } */", " ")}\n</style>`);
    expect(styles(html)).toEqual(["font-size: 10px; color: red; margin: 1px;"]);
  });

  test("sheets for print, or marked to stay, are neither inlined nor changed", () => {
    const body = `<style media="print">${sheet}</style><style data-embed>${sheet}</style><p class="a">x</p>`;
    expect(withInlinedCss(body)).toBe(body);
  });

  test("conditional comments stay, and their content is only for Outlook", () => {
    const mso = `<!--[if mso]><style>.a{color:mso}</style><table class="a"><tr><td><![endif]-->`;
    const other = `<!--[if !mso]><!--><p class="a">z</p><!--<![endif]-->`;
    const html = withInlinedCss(`<style>.a{color:red}</style>${mso}${other}`);
    expect(html).toBe(`<style></style>${mso}${other.replace("<p", '<p style="color: red;"')}`);
  });

  test("conditions, loops and values survive everywhere, also around an unclosed element", () => {
    const body = [
      '[[#if vip]]<div class="a">[[#else]]<div>[[/if]]<p [[attr]] title="[[t|default:"q"]]">Hi [[[raw]]] \\[[x]]</p></div>',
      '<table>[[#each rows]]<tr><td class="a">[[this.x]]</td></tr>[[/each]]</table>',
    ].join("");
    const html = withInlinedCss(`<style>.a{color:[[brand]]} p{top:0}</style>${body}`);
    expect(html.replace("<style></style>", "").replace(/ style="[^"]*"/g, "")).toBe(body);
    expect(styles(html)).toEqual(["color: [[brand]];", "top: 0;", "color: [[brand]];"]);
  });

  test("a condition in an element's own style stays after the sheets' declarations", () => {
    const html = withInlinedCss('<style>p{color:red}</style><p style="top:1px;[[#if x]]color:blue[[/if]]">x</p>');
    expect(styles(html)).toEqual(["color: red; top:1px;[[#if x]]color:blue[[/if]]"]);
  });

  test("an element with a variable class has the rules of its other classes, and its sheet stays whole", () => {
    const open =
      '<style>.a{color:red;padding:8px} p{top:0}</style><p class="a [[#if b]]c[[/if]]">y</p><p class="[[x]] a" id="[[y]]">z</p>';
    const style = ' style="top: 0; color: red; padding: 8px;"';
    expect(withInlinedCss(open)).toBe(open.replaceAll("<p class", `<p${style} class`));
  });

  test.each([
    // Properties that a variable class may set are left to the sheet, so that it still wins there.
    [".box{padding:8px;color:red} .vip{color:gold}", "box [[kind]]", "padding: 8px;"],
    [".box{padding:8px;color:red} .vip{color:gold}", "box [[#if vip]]vip[[/if]]", "padding: 8px;"],
    [".vip{color:gold} .box{padding:8px;color:red}", "box [[kind]]", "padding: 8px; color: red;"],
    [".box{margin:8px;color:red} .vip{margin-left:0}", "box [[kind]]", "color: red;"],
    [".box{border-left:0;color:red} .vip{border:1px}", "box [[kind]]", "color: red;"],
    [".box{color:red} .vip{color:gold}", "box [[kind]]", undefined],
    [".box{background:url(a;b.png);color:red} .vip{color:gold}", "box [[kind]]", "background: url(a;b.png);"],
  ])('%s at class="%s" becomes %s', (css, className, style) => {
    expect(styles(withInlinedCss(`<style>${css}</style><p class="${className}">x</p>`))).toEqual(style ? [style] : []);
  });

  test("a variable id does not keep other rules in the sheet, unless it may be an id of the sheet", () => {
    const html = (css: string, id: string) =>
      withInlinedCss(`<style>.a{color:#fff}${css}</style><p class="a" id="${id}">x</p>`);
    expect(styles(html("#outlook{top:0}", "row-[[n]]"))).toEqual(["color: #fff;"]);
    expect(styles(html("", "[[n]]"))).toEqual(["color: #fff;"]);
    expect(styles(html("#row-1{color:red}", "row-[[n]]"))).toEqual([]);
  });

  test("a rule within a condition stays in the sheet", () => {
    const conditional = '<style>[[#if dark]].a{color:white}[[/if]]</style><p class="a">x</p>';
    expect(withInlinedCss(conditional)).toBe(conditional);
  });

  test("quotes and ampersands cannot end the attribute or change its value", () => {
    const css = `p{background:url("a?b=1&c=2");font-family:"A B"}`;
    const html = withInlinedCss(`<style>${css}</style><p style='content:&quot;x&quot;;top:0'>x</p>`);
    expect(styles(html)).toEqual([expect.stringContaining("background: url('a?b=1&amp;c=2');")]);
    expect(html).toMatch(/font-family: 'A B'; .*top: 0;">x<\/p>$/);
  });

  test("a second run changes nothing", () => {
    const once = withInlinedCss(`<style>${sheet} a:hover{top:0}</style><p class="a">x</p>`);
    expect(withInlinedCss(once)).toBe(once);
  });

  test("nothing is fetched: links to sheets and imports stay unchanged", () => {
    const body =
      '<link rel="stylesheet" href="file:///etc/passwd"><style>@import "http://127.0.0.1:1/x.css";</style><p>x</p>';
    expect(withInlinedCss(body).replace(/\n/g, "")).toBe(body);
  });

  test.each([";", "red", "((", "'", "}", "/*", "\\"])(
    "a style that is no CSS stays beside the inlined one: %j",
    (own) => {
      const html = withInlinedCss(`<style>${sheet}</style><p style="${own}">x</p><p class="a" style="top:0">y</p>`);
      expect(styles(html)).toEqual([`font-size: 10px; ${own}`, "font-size: 10px; color: red; margin: 1px; top:0"]);
    },
  );

  test("a sheet that cannot be read stays", () => {
    const body = "<style>p{::before;juice ignore}]url(content:p{</style><p>x</p>";
    expect(withInlinedCss(body)).toBe(body);
  });

  test.each([
    ["an unclosed sheet", "<style>.a{color:red"],
    ["an unclosed block and string", '<style>@media x{ .a{color:"red</style><p class="a">x'],
    ["selectors nobody knows", "<style>:is(::x,(((,a>>b{color:red} ..a{top:0} p{left:0}</style><p>x</p>"],
    ["10,000 rules", `<style>${".a b{top:0}".repeat(10_000)}</style><p>x</p>`],
    ["16,000 characters of attributes", `<style>.a{top:0}</style><p class="${"a ".repeat(8_000)}">x</p>`],
    ["words that look like ours", '<style>.tag0x0z{top:0}</style><p class="tag0x0z">tag0x0z [[x]] tag1x</p>'],
  ])("%s changes nothing but the sheet", (_what, body) => {
    const { html = "" } = makeHtml({ body, isMjml: false, inlinesCss: true });
    const seen = (text: string) => text.replace(/<style>[\s\S]*?(?:<\/style>|$)/, "").replace(/ style="[^"]*"/g, "");
    expect(html).not.toBe("");
    expect(seen(html)).toBe(seen(body));
  });
});
