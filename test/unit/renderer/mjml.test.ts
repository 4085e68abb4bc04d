import { htmlOfMjml } from "../../../services/lib/made-html/mjml.ts";

const inColumn = (content: string) =>
  `<mjml>\n<mj-body>\n<mj-section><mj-column>\n${content}\n</mj-column></mj-section></mj-body></mjml>`;
const html = (mjml: string) => {
  const made = htmlOfMjml(mjml);
  if (made.errors) throw new Error(made.errors.join("\n"));
  return made.html;
};
const errors = (mjml: string) => htmlOfMjml(mjml).errors;

describe("an MJML template", () => {
  test("becomes HTML, with its texts unchanged to the byte", () => {
    const text = 'Hi [[name|default:"you"]], <br>unclosed <p CLASS=q>tags &amp; [[[raw]]] "quotes" \\[[x]] é €';
    expect(html(inColumn(`<mj-text>${text}</mj-text>`))).toMatch(/^<!doctype html><html/);
    expect(html(inColumn(`<mj-text>${text}</mj-text>`))).toContain(`>${text}</div>`);
  });

  test("may have conditions and loops between components, at every level", () => {
    const made = html(
      `<mjml><mj-body>[[#each items]]<mj-section>[[#if a]]<mj-column>[[#if b]]<mj-text>[[this.x]]</mj-text>[[#else]]
       <mj-button href="[[this.url]]?a=1&amp;b=[[c|urlencode]]" color="[[color]]">Go</mj-button>[[/if]]</mj-column>[[/if]]</mj-section>[[/each]]
       <mj-wrapper>[[#if w]]<mj-section css-class="[[#if c]]x[[/if]]"></mj-section>[[/if]]</mj-wrapper></mj-body></mjml>`,
    );
    const tags = [...made.matchAll(/\[\[[^\]]*\]\]/g)].map(([tag]) => tag);
    const blocks = tags.filter((tag) => /^\[\[[#/]/.test(tag));
    expect(blocks.slice(0, 7)).toEqual(
      "[[#each items]] [[#if a]] [[#if b]] [[#else]] [[/if]] [[/if]] [[/each]]".match(/\[\[.*?\]\]/g),
    );
    expect(made).toContain('href="[[this.url]]?a=1&amp;b=[[c|urlencode]]"');
    expect(made).toContain("color:[[color]]");
    expect(made).not.toMatch(/<!--[^>[]*\[\[[^>]*-->/);
  });

  test("may have blank lines, Windows line ends, empty pairs and split end tags, read as MJML reads them", () => {
    const mjml =
      '<mjml>\r\n\r\n<mj-head>\r\n\r\n<mj-attributes>\n<mj-all padding="0"></mj-all>\n\n</mj-attributes></mj-head\n>\n<mj-body>\n\n<mj-section><mj-column\n><mj-text\n>x</mj-text\n></mj-column ></mj-section>\n\n\n</mj-body>\n</mjml>\n';
    expect(html(mjml)).toContain(">x</div>");
  });

  test("keeps quotes, backslashes and invisible characters in attributes", () => {
    expect(html(inColumn(`<mj-image src="a" title='say "hi" \\ \u200b' />`))).toContain(
      'title="say &quot;hi&quot; \\ \u200b"',
    );
    expect(html(inColumn('<mj-image src="a" />'))).toContain('alt=""');
  });

  test("asks no strangers for fonts and icons: networks without an image of their own are named in words", () => {
    const social = (elements: string) => html(inColumn(`<mj-social>${elements}</mj-social>`));
    const made = social(
      '<mj-social-element name="facebook-noshare" href="https://a.example/">Us</mj-social-element>' +
        '<mj-social-element name="youtube" href="https://b.example/[[x]]" /><mj-social-element name="web" alt="Our shop"></mj-social-element>',
    );
    expect(made).not.toMatch(/googleapis|mailjet|flockmail-icon|<img/);
    expect(made.match(/<a href="https:\/\/a\.example\/"/g)).toHaveLength(1);
    expect(made).toMatch(/<a href="https:\/\/b\.example\/\[\[x\]\]"[^>]*>YouTube<\/a>/);
    expect(made).toMatch(/<span[^>]*>Our shop<\/span>/);
    const own = social('<mj-social-element src="https://a.example/i.png" href="https://a.example/" />');
    expect(own).toContain('src="https://a.example/i.png"');
    const font = '<mj-head><mj-font name="Raleway" href="https://a.example/r.css" /></mj-head>';
    const named = html(inColumn('<mj-text font-family="Raleway">x</mj-text>').replace("<mj-body>", `${font}<mj-body>`));
    expect(named).toContain("https://a.example/r.css");
  });

  test("gives a table the role it names, and leaves a table of data without one", () => {
    const made = html(
      inColumn('<mj-table role="presentation"><tr><td>a</td></tr></mj-table><mj-table><tr><td>b</td></tr></mj-table>'),
    );
    expect(made).toMatch(/<table role="presentation"[^>]*><tr><td>a</);
    expect(made).toMatch(/<table (?![^>]*role)[^>]*><tr><td>b</);
  });

  test("keeps columns side by side without media queries, and stacks them on phones", () => {
    const column = '<mj-column css-class="c"><mj-text>x</mj-text></mj-column>';
    const made = html(`<mjml><mj-body><mj-section>${column}${column}</mj-section></mj-body></mjml>`);
    expect(made.match(/width:100%;max-width:50%;"/g)).toHaveLength(2);
    expect(made).toContain(
      "@media only screen and (max-width:479px) { .mj-column-per-50 { max-width:100% !important; } }",
    );
    expect(html(inColumn("<mj-text>x</mj-text>"))).not.toContain("max-width:479px");
  });

  test("has `mj-style inline` written into the elements, and keeps other sheets", () => {
    const head =
      '<mj-head><mj-style>.b{top:0}</mj-style><mj-style inline="inline">.b p{color:[[brand]]}</mj-style></mj-head>';
    const made = html(inColumn('<mj-text css-class="b"><p>x</p></mj-text>').replace("<mj-body>", `${head}<mj-body>`));
    expect(made).toContain('<p style="color: [[brand]];">x</p>');
    expect(made).toContain(".b{top:0}");
    expect(made).not.toContain(".b p{");
  });

  test("declares no language that was not given", () => {
    expect(html(inColumn("<mj-text>x</mj-text>"))).not.toContain('"und"');
    expect(html(inColumn("<mj-text>x</mj-text>").replace("<mjml", '<mjml lang="fr"'))).toContain('<html lang="fr"');
  });

  test.each([
    ["an unknown element", inColumn("<mj-txt>a</mj-txt>"), "Unknown element <mj-txt> at line 4, column 1."],
    ["one that is never closed", inColumn("<mj-text>a"), "<mj-text> is never closed at line 4, column 1."],
    ["one closed too early", inColumn("</mj-section>"), "</mj-section> where <mj-column> is open at line 4, column 1."],
    [
      "HTML between components",
      inColumn("<div>a</div>"),
      "<div> is HTML, which stands within <mj-text>, <mj-table> or <mj-raw> at line 4, column 1.",
    ],
    [
      "text between components",
      inColumn("[[x]]\n  a"),
      "Text outside of <mj-text> or a similar element at line 4, column 1.",
    ],
    [
      "a mistake in a tag",
      inColumn("[[#if x]][[/if]]\n<mj-image src=a />"),
      "This is not valid MJML (invalid attribute cause expected quote mark not 'a') at line 5, column 10.",
    ],
    [
      "a tag without an end",
      inColumn('<mj-image src="a />'),
      "<mj-image> has no end, or a quote in it has none at line 4, column 1.",
    ],
    ["an open condition", inColumn("<mj-text>[[#if x]]</mj-text>"), "[[#if …]] is never closed at line 4, column 10."],
    ["no MJML at all", "<p>x</p>", "An MJML template must start with <mjml> at line 1, column 1."],
    [
      "a condition in the head",
      "<mjml><mj-head>[[#if a]]<mj-title>x</mj-title>[[/if]]</mj-head><mj-body></mj-body></mjml>",
      "[[#if a]] is not allowed in this place: MJML would leave it out.",
    ],
    [
      "a second carousel",
      inColumn("<mj-carousel></mj-carousel>\n<mj-carousel/>"),
      "Only one <mj-carousel> is allowed at line 5, column 1.",
    ],
  ])("is refused with the position of the error: %s", (_what, mjml, sentence) => {
    expect(errors(mjml)).toEqual([sentence]);
  });

  test("is refused with all unknown elements at once", () => {
    expect(errors(inColumn("<mj-a/>\n<mj-b/>"))).toHaveLength(2);
  });
});

describe("hostile MJML", () => {
  const deep = (n: number) => `<mjml><mj-body>${"<mj-wrapper>".repeat(n)}${"</mj-wrapper>".repeat(n)}</mj-body></mjml>`;
  const all = (length: number, elements: number) =>
    `<mjml><mj-head><mj-attributes><mj-all css-class="${"a".repeat(length)}"/></mj-attributes></mj-head><mj-body>${"<mj-section/>".repeat(elements)}</mj-body></mjml>`;

  test.each([
    ["reads no file", inColumn('<mj-include path="/etc/passwd" />'), /^<mj-include> is not supported.* line 4/],
    [
      "reads no file as CSS",
      '<mjml><mj-head><mj-include type="css" path="file:///etc/passwd"/></mj-head></mjml>',
      /is not supported/,
    ],
    ["fetches nothing", inColumn('<mj-include path="http://127.0.0.1:1/x.mjml" />'), /is not supported/],
    [
      "knows no entities",
      `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${inColumn("")}`,
      /Document types are not allowed/,
    ],
    ["is not nested without end", deep(10_000), /nested deeper than 40 levels/],
    ["has a bounded number of elements", inColumn("<mj-text/>".repeat(5_001)), /More than 5000 elements/],
    ["has attributes of a bounded length", inColumn(`<mj-text color="${"a".repeat(16_001)}"/>`), /longer than 16000/],
    ["does not multiply its defaults", all(15_000, 1_500), /Too many elements with too long attributes/],
  ])("is refused: %s", (_what, mjml, sentence) => {
    expect(errors(mjml)).toEqual([expect.stringMatching(sentence)]);
  });

  test("at each of the limits is compiled, and so is the next template", () => {
    for (const mjml of [deep(37), inColumn("<mj-text/>".repeat(4_900)), all(15_000, 1_000)]) {
      expect(htmlOfMjml(mjml).errors).toBeUndefined();
    }
    const attributes = `<mj-text ${Array.from({ length: 800 }, (_, i) => `data-${i}="${"x".repeat(5)}"`).join(" ")}>x</mj-text>`;
    expect(html(inColumn(attributes))).toContain(">x</div>");
  });

  test("has tag values in attributes escaped as in any HTML template", () => {
    expect(html(inColumn('<mj-image src="[[src]]" alt="[[alt]]" />'))).toContain('alt="[[alt]]"');
  });
});
