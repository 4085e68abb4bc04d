import { say } from "../../support/render.ts";

const text = (body: string, data: Record<string, unknown> = {}) => say(body, data).text;

describe("the text part", () => {
  test("keeps variables, conditions and loops in place", () => {
    const body = `<h1>Hello [[name]]</h1>
      [[#if items]]<p>Your order:</p><ul>[[#each items]]<li>[[this.name]]: [[this.price]]</li>[[/each]]</ul>[[#else]]<p>Nothing yet.</p>[[/if]]
      <p>Bye, <b>[[name]]</b></p>`;
    expect(
      text(body, {
        name: "Ann",
        items: [
          { name: "Tea", price: 3 },
          { name: "Bun", price: 1 },
        ],
      }),
    ).toBe("Hello Ann\n\nYour order:\n\n * Tea: 3\n * Bun: 1\n\nBye, Ann");
    expect(text(body, { name: "Ann" })).toBe("Hello Ann\n\nNothing yet.\n\nBye, Ann");
  });

  test.each([
    ['<a href="https://a.example/">Read</a>', "Read (https://a.example/)"],
    ['<a href="https://a.example/">https://a.example/</a>', "https://a.example/"],
    ['<a href="[[url]]">[[url]]</a>', "https://v.example/"],
    ['<a href="https://a.example/[[x]]?y=1&amp;z=2">Read</a>', "Read (https://a.example/1?y=1&z=2)"],
    ['<p>a <img src="https://a.example/i.png" alt="picture"> b</p>', "a picture b"],
    ["<style>p{color:red}</style><title>T</title><p>a</p><script>x</script>", "a"],
    ["<p>1 &lt; 2 &amp; 3 &euro;</p>", "1 < 2 & 3 €"],
    ["<table><tr>[[#each items]]<td>[[this]]</td>[[/each]]</tr></table>", "a b c "],
    ["<table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>3.50</td></tr></table>", "Item Price\nTea 3.50"],
    [
      "<p>a</p><table><tr><td>&nbsp;</td></tr></table><p></p><p></p><table><tr><td></td></tr></table><p>b</p>",
      "a\n\n\nb",
    ],
    ["<dl><dt>Where</dt><dd>Here</dd></dl>", "Where\nHere"],
    ["\\[[x]] {{x}}", "[[x]] {{x}}"],
    ["<p>[[html]]</p>", "<b>x</b>"],
    ["plain\n\ntext", "plain text"],
    ["", ""],
  ])("is, for %s, %j", (body, expected) => {
    expect(text(body, { url: "https://v.example/", x: 1, items: ["a", "b", "c"], html: "<b>x</b>" })).toBe(expected);
  });

  test.each([
    ["<table><tr><th>Item</th></tr>[[#each x]]<tr><td>[[this]]</td></tr>[[/each]]</table>", "Item\na\nb"],
    ["<h1>H</h1><ul>[[#each x]]<li>[[this]]</li>[[/each]]</ul><p>p</p>", "H\n\n * a\n * b\n\np"],
    ["x<ul>[[#each x]]<li>[[this]]</li>[[/each]]</ul>y", "x\n * a\n * b\n\ny"],
    ["<p>x</p>[[#each x]]<p>[[this]]</p>[[/each]]<p>y</p>", "x\n\na\n\nb\n\ny"],
    ["x [[#each x]]<p>[[this]]</p>[[/each]]<p>y</p>", "x \n\na\n\nb\n\ny"],
    ["[[#each x]]<div>[[this]]</div>[[/each]]", "a\nb"],
    ["[[#each x]][[#each y]]<p>[[this]]</p>[[/each]][[/each]]z", "1\n\n2\n\n1\n\n2\n\nz"],
    ["x: [[#each x]][[this]] [[/each]]", "x: a b "],
  ])("separates iterations %s by the break between items, not twice", (body, expected) => {
    expect(text(body, { x: ["a", "b"], y: [1, 2] }).replace(/\n+$/, "")).toBe(expected);
  });

  test("loses a tag together with its counterpart if the conversion drops its attribute", () => {
    expect(text('<p>a<img alt="[[#if x]]">b</p><p title="[[/if]]">c</p>', { x: 1 })).toBe("ab\n\nc");
    expect(text("<style>[[#if x]]</style><p>a</p>[[#else]]<p>b</p>[[/if]]", { x: 1 }).trimEnd()).toBe("a\n\nb");
  });

  test("is not damaged by private-use characters in the source", () => {
    expect(text("a\ue0f00\ue0f1b [[x]]", { x: "\ue0f00\ue0f1" })).toBe("a0b \ue0f00\ue0f1");
  });

  test("is made of the deepest markup that is accepted", () => {
    expect(() => text(`${"<div>".repeat(500)}x`)).not.toThrow();
  });
});
