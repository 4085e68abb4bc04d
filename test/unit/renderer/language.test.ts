import { compileTemplate } from "../../../services/lib/template/compile.ts";
import { showsAlways } from "../../../services/renderer/bodies/visible.ts";
import { say } from "../../support/render.ts";

const html = (template: string, data?: Record<string, unknown>) => say(template, data).html;

describe("variables", () => {
  test.each([
    ["[[name]]", { name: "Ann" }, "Ann"],
    ["[[ name ]]", { name: "Ann" }, "Ann"],
    ["[[nobody]]", {}, ""],
    ["[[a.b.c]]", { a: { b: { c: 7 } } }, "7"],
    ["[[a.b.c]]", { a: { b: "text" } }, ""],
    ["[[a.b]]", { "a.b": "whole name", a: { b: "step" } }, "whole name"],
    [
      "[[Größe]] [[город]] [[order-id]] [[First Name]]",
      { Größe: "L", город: "Рига", "order-id": 5, "First Name": "A" },
      "L Рига 5 A",
    ],
    ["[[n]] [[t]] [[f]] [[z]]", { n: 1.5, t: true, f: false, z: 0 }, "1.5 true false 0"],
    ["[[Price (€)]] [[opt-in?]] [[N° 5]]", { "Price (€)": 3, "opt-in?": true }, "3 true "],
    ["[[nothing]]", { nothing: null }, ""],
    ["[[list]]", { list: ["a", 1, null, { x: 1 }] }, "a, 1"],
    ["[[object]]", { object: { a: 1 } }, ""],
    ["[[list.1]]", { list: ["a", "b"] }, "b"],
  ])("are replaced: %s", (template, data, expected) => expect(html(template, data)).toBe(expected));

  test("are escaped in a body and not in a subject or text", () => {
    expect(say("[[x]]", { x: `<b>"Tom" & 'Ann'</b>` })).toEqual({
      html: "&lt;b&gt;&quot;Tom&quot; &amp; &#39;Ann&#39;&lt;/b&gt;",
      text: `<b>"Tom" & 'Ann'</b>`,
      subject: `<b>"Tom" & 'Ann'</b>`,
    });
  });

  test("are not escaped in three brackets; the text part keeps their words", () => {
    expect(say("[[[x]]]", { x: "<b>A &amp; B</b>" })).toMatchObject({ html: "<b>A &amp; B</b>", text: "A & B" });
  });

  test("cannot break a subject's line", () => {
    expect(say("[[x]]!", { x: "a\r\nBcc: b@c.example\u2028d\u0000" }).subject).toBe("a Bcc: b@c.example d !");
  });

  test("have an order: built-in ones before attributes, a receiver's names before its subscriber's", () => {
    const attributes = { email: "evil@example.com", first_name: "Attribute", unsubscribe_url: "https://evil.example" };
    expect(html("[[email]] [[first_name]]", attributes)).toBe("bob@example.com ");
    expect(html("[[unsubscribe_url]]", attributes)).toMatch(
      /^https:\/\/mail\.example\.org\/api\/emails\/public\/unsubscribe\/018f/,
    );
    const own = { variables: { first_name: "Own", email: "evil@example.com" }, first_name: "Stored", attributes };
    expect(say("[[first_name]] [[email]]", {}, own).html).toBe("Own bob@example.com");
    expect(say("[[first_name]] [[last_name]]", {}, { first_name: "Stored", last_name: "L" }).html).toBe("Stored L");
  });

  test("take a receiver's value before an attribute of the same name", () => {
    expect(say("[[a]] [[b]]", {}, { variables: { a: 1 }, attributes: { a: 2, b: 3 } }).html).toBe("1 3");
  });
});

describe("the case of a variable's name", () => {
  test.each([
    ["[[city]] [[CITY]]", { City: "Bonn" }, "Bonn Bonn"],
    ["[[größe]]", { GRÖSSE: "no", GRÖßE: "L" }, "L"],
    ["[[first name]]", { "First Name": "A" }, "A"],
    // An exact match wins; where none is exact, two are one too many.
    ["[[City]] [[city]] [[CITY]]", { City: "Bonn", city: "Köln" }, "Bonn Köln "],
    ["[[a.b]]", { A: { B: 1 } }, "1"],
    ["[[A.B]]", { "a.b": "whole", a: { b: "step" } }, "whole"],
    ["[[#each Items]][[this.name]],[[/each]]", { items: [{ Name: "x" }, { NAME: "y" }] }, "x,y,"],
    ["[[#if vip]]yes[[#else]]no[[/if]]", { VIP: true }, "yes"],
    ["[[city|default:Rome]]", { City: "" }, "Rome"],
    ["[[constructor]] [[__PROTO__]] [[toString]]", {}, "  "],
  ])("is handled: %s", (template, data, expected) => expect(html(template, data)).toBe(expected));

  test("is ignored in built-in variables, too, and an exact match wins over them", () => {
    const person = { first_name: "Ann", variables: { CITY: "Bonn" }, attributes: { Email: "own" } };
    expect(say("[[First_Name]] [[FIRST_NAME]] [[EMAIL]] [[city]]", {}, person).html).toBe(
      "Ann Ann bob@example.com Bonn",
    );
    expect(say("[[Email]]", {}, person).html).toBe("own");
    expect(say("[[first_name]]", {}, { variables: { First_Name: "Own" } }).html).toBe("Own");
    expect(say("[[first_name]]", {}, { first_name: "Stored", variables: { First_Name: "Own" } }).html).toBe("Stored");
    expect(html("[[Unsubscribe_URL]]", { Unsubscribe_URL: "javascript:alert(1)" })).toMatch(
      /^https:\/\/mail\.example\.org\/api\/emails\/public\/unsubscribe\/018f/,
    );
    expect(showsAlways('<a href="[[Unsubscribe_URL]]">No more</a>', "unsubscribe_url")).toBe(true);
  });
});

describe("a default and an encoding", () => {
  test.each([
    ["Hi [[first_name|default:there]]", {}, "Hi there"],
    ["Hi [[ first_name | default: you there ]]", { first_name: "" }, "Hi you there"],
    ["[[x|default:there]]", { x: "Ann" }, "Ann"],
    ["[[x|default:there]]", { x: 0 }, "0"],
    ["[[x|default:there]]", { x: [] }, "there"],
    ["[[x|default:]]", {}, ""],
    ["[[a.b|default:c]]", { a: {} }, "c"],
    ["[[x|default:Tom & <Ann>]]", {}, "Tom &amp; &lt;Ann&gt;"],
    ["[[[x|default:<b>you</b>]]]", {}, "<b>you</b>"],
    ["[[x|urlencode]]", { x: "a b&c=ü/?" }, "a%20b%26c%3D%C3%BC%2F%3F"],
    ["[[x|default:no one|urlencode]]", {}, "no%20one"],
    ["[[x|urlencode|default:no one]]", {}, "no%20one"],
    ["[[#each list]][[this|default:-]] [[this.n|default:none]];[[/each]]", { list: ["a", ""] }, "a none;- none;"],
    [
      '<a href="https://x.example/[[x|urlencode]]?q=[[x|urlencode]]">x</a>',
      { x: "a/b c" },
      '<a href="https://x.example/a%2Fb%20c?q=a%2Fb%20c">x</a>',
    ],
  ])("apply to %s", (template, data, expected) => expect(html(template, data)).toBe(expected));

  test("are the same in subject and text, and one value may have several", () => {
    const template = "[[x|default:you]] [[x|default:them]] [[x|urlencode]]!";
    expect(say(template, {})).toEqual({ html: "you them !", text: "you them !", subject: "you them !" });
    expect(say(template, { x: "ä b" })).toMatchObject({ text: "ä b ä b %C3%A4%20b!", subject: "ä b ä b %C3%A4%20b!" });
  });

  test.each([
    ["[[x|upper]]", '"x|upper" is not a variable\'s name at line 1, column 1.'],
    ["[[x|]]", '"x|" is not a variable\'s name at line 1, column 1.'],
    ["[[|default:x]]", '"|default:x" is not a variable\'s name at line 1, column 1.'],
    ["[[#if x|default:y]][[/if]]", '"x|default:y" is not a variable\'s name at line 1, column 1.'],
  ])("cause an error if unknown: %s", (template, sentence) => {
    expect(compileTemplate(template, "body").errors).toContain(sentence);
  });

  test("make an unsubscribe link unusable", () => {
    expect(showsAlways('<a href="https://x.example/?u=[[unsubscribe_url|urlencode]]">x</a>', "unsubscribe_url")).toBe(
      false,
    );
    expect(showsAlways("[[unsubscribe_url|default:x]]", "unsubscribe_url")).toBe(true);
  });
});

describe("conditions", () => {
  test.each([
    [undefined, "no"],
    [null, "no"],
    ["", "no"],
    [false, "no"],
    [0, "no"],
    [[], "no"],
    ["false", "no"],
    ["0", "no"],
    ["no", "yes"],
    [" ", "yes"],
    [1, "yes"],
    [true, "yes"],
    [["a"], "yes"],
    [{}, "yes"],
  ])("in the form %j are %s", (x, expected) => expect(html("[[#if x]]yes[[#else]]no[[/if]]", { x })).toBe(expected));

  test("may test built-in addresses", () => {
    expect(
      html("[[#if unsubscribe_url]]a[[/if]][[#if view_in_browser_url]]b[[/if]][[#if preferences_url]]c[[/if]]"),
    ).toBe("abc");
  });

  test("nest, with and without else", () => {
    const template = "[[#if a]]a[[#if b]]b[[#else]]-b[[/if]][[#else]]-a[[#if b]]b[[/if]][[/if]]";
    const said = [{ a: 1, b: 1 }, { a: 1 }, { b: 1 }, {}].map((data) => html(template, data));
    expect(said).toEqual(["ab", "a-b", "-ab", "-a"]);
  });
});

describe("loops", () => {
  test.each([
    ["[[#each x]][[@index]]=[[this]];[[/each]]", { x: ["a", "<"] }, "0=a;1=&lt;;"],
    [
      "[[#each x]][[this.name]] [[this.price]] [[currency]],[[/each]]",
      { x: [{ name: "Tea", price: 3 }, { name: "Bun" }], currency: "€" },
      "Tea 3 €,Bun  €,",
    ],
    [
      "[[#each x]][[#each this.y]][[this]][[@index]] [[/each]]|[[this.n]][[/each]]",
      {
        x: [
          { n: 1, y: ["a", "b"] },
          { n: 2, y: [] },
        ],
      },
      "a0 b1 |1|2",
    ],
    [
      "[[#each x]][[#if @index]], [[/if]][[#if this.vip]]*[[/if]][[this.n]][[/each]]",
      { x: [{ n: "A", vip: true }, { n: "B" }] },
      "*A, B",
    ],
    ["[[#each x]]never[[/each]]", {}, ""],
    ["[[#each x]]never[[/each]]", { x: "text" }, ""],
    ["[[#each x]]never[[/each]]", { x: { a: 1 } }, ""],
  ])("work: %s", (template, data, expected) => expect(html(template, data)).toBe(expected));
});

describe("text that is not syntax", () => {
  test.each([
    ["\\[[name]]", "[[name]]"],
    ["\\[[[[name]]", "[[Ann"],
    ["[ [name]] ]] [x]", "[ [name]] ]] [x]"],
    ["{{ name }} {% if %} ${name} <%= name %> #{name}", "{{ name }} {% if %} ${name} <%= name %> #{name}"],
    ["<!--[if mso]>x<![endif]-->", "<!--[if mso]>x<![endif]-->"],
    ["[[[[name]]]]", "[Ann]"],
    ["C:\\[x]", "C:\\[x]"],
  ])("stays unchanged: %s", (template, expected) => expect(html(template, { name: "Ann" })).toBe(expected));

  test("is any value, which is never read as a template", () => {
    expect(html("[[a]]", { a: "[[b]] {{b}} \\[[ ${b}", b: "secret" })).toBe("[[b]] {{b}} \\[[ ${b}");
  });
});

describe("errors with line and column", () => {
  test.each([
    ["a\nb [[#if x]]", ["[[#if …]] is never closed at line 2, column 3."]],
    ["[[/each]]", ["[[/each]] has no beginning at line 1, column 1."]],
    [
      "[[#each x]][[/if]]",
      ["[[#each …]] is never closed at line 1, column 1.", "[[/if]]: [[/each]] must come first at line 1, column 12."],
    ],
    ["[[#else]]", ["[[#else]] outside of [[#if]] at line 1, column 1."]],
    ["[[#if x]][[#else]][[#else]][[/if]]", ["A second [[#else]] in one [[#if]] at line 1, column 19."]],
    ["\r\n\r\n  [[name", ["[[ is never closed at line 3, column 3."]],
    ["[[]]", ["Empty tag [[]] at line 1, column 1."]],
    ["[[#unless x]]", ["Unknown tag [[#unless x]] at line 1, column 1."]],
    [
      "[[a | upper]] [[f('x')]]",
      [
        '"a | upper" is not a variable\'s name at line 1, column 1.',
        "\"f('x')\" is not a variable's name at line 1, column 15.",
      ],
    ],
    ["[[if x]]", ['[[if x]] lacks a "#": write [[#if x]] at line 1, column 1.']],
    ["[[#if]]", ["[[#if]] needs a variable's name at line 1, column 1."]],
    ["[[@index]]", ["[[@index]] outside of [[#each]] at line 1, column 1."]],
    ["[[@root]]", ["Unknown variable [[@root]] at line 1, column 1."]],
    ["[[a..b]]", ['"a..b" is not a variable\'s name at line 1, column 1.']],
  ])("are reported in %j", (source, errors) => expect(compileTemplate(source, "body").errors).toEqual(errors));

  test("are reported for at most ten of them", () => {
    expect(compileTemplate("[[#nope]]\n".repeat(500), "body").errors).toHaveLength(10);
  });

  test("are not read from a source over the limit", () => {
    expect(compileTemplate("x".repeat(1_000_001), "body").errors).toEqual(["Longer than 1000000 characters."]);
    expect(compileTemplate("x".repeat(999), "subject").errors).toEqual(["Longer than 998 characters."]);
  });
});
