import { say } from "../../support/render.ts";

const text = (body: string, data: Record<string, unknown> = {}) => say(body, data).text;
const image = (more: string) => `<img src="https://cdn.example/i.png" ${more}>`;

describe("images in the text part", () => {
  test.each([
    ["an image in a link that says the same", `<a href="https://x.example/">${image('alt="Tea"')}Tea</a>`],
    [
      "an image in a link that says the same, apart from case and space",
      `<a href="https://x.example/">${image('alt=" tea"')}<br>\n Tea</a>`,
    ],
    [
      "a picture and a name that lead to the same place",
      `<a href="https://x.example/">${image('alt="Tea"')}</a> <a href="https://x.example/">Tea</a>`,
    ],
    [
      "a picture without words beside them",
      `<a href="https://x.example/">${image("")}</a> <a href="https://x.example/">Tea</a>`,
    ],
    ["two images of one link", `<a href="https://x.example/">${image("alt=Tea")}<b>${image("alt=Tea")}</b></a>`],
    ["a value", `<a href="https://x.example/">${image('alt="[[tea]]"')}[[tea]]</a>`],
  ])("repeat no text: %s", (_name, body) => {
    expect(text(body, { tea: "Tea" }).trim()).toBe("Tea (https://x.example/)");
  });

  test.each([
    ["a pixel", image('width="1" height=1 alt="pixel"')],
    ["a pixel by its style", image('style="display:block; width: 1px;height:0" alt="pixel"')],
    ["a decoration", image('alt=""')],
    ["a decoration in a link", `<a href="https://x.example/">${image('alt=""')}</a>`],
    ["one that is none to a screen reader", image('role="presentation" alt="x"')],
    ["one that is hidden from it", image('aria-hidden="true" alt="x"')],
    ["one without words", image("")],
    ["an address for words", image('alt="https://cdn.example/i.png"')],
    ["a link to the file of an image", `<a href="https://cdn.example/large.JPG?x=1">${image("")}</a>`],
  ])("add no text: %s", (_name, body) => {
    expect(text(`<p>a ${body} b</p>`).replace(/ +/g, " ")).toBe("a b");
  });

  test.each([
    [`<p>a ${image('alt="picture"')} b</p>`, "a picture b"],
    [`${image('alt="Logo"')} ${image('alt="Logo"')}`, "Logo"],
    [`${image('alt="Tea"')}${image('alt="Bun"')}`, "Tea Bun"],
    [`<figure>${image('alt="A house"')}<figcaption>A house</figcaption></figure>`, "A house"],
    [`<a href="https://x.example/">${image('alt="Tea"')}</a>`, "Tea (https://x.example/)"],
    [`<a href="https://x.example/">${image('alt="Tea"')}Buy</a>`, "TeaBuy (https://x.example/)"],
    [`<a href="https://x.example/">${image('alt="Tea"')} Teapot</a>`, "Tea Teapot (https://x.example/)"],
    [`<a href="https://cdn.example/large.png">${image('alt="Tea"')}</a>`, "Tea"],
    ['<a href="https://cdn.example/large.png">large</a>', "large (https://cdn.example/large.png)"],
    // The only way to where it leads must not get lost.
    [`<a href="https://x.example/">${image("")}</a>`, "https://x.example/"],
    [
      `<a href="https://x.example/">${image('alt="Tea"')}</a> <a href="https://y.example/">Tea</a>`,
      "Tea (https://x.example/) Tea (https://y.example/)",
    ],
    [`<a>${image('alt="Tea"')}</a>`, "Tea"],
    ['<a href="mailto:ann@example.com">ann@example.com</a>', "ann@example.com"],
  ])("become text, %s: %j", (body, expected) => expect(text(body)).toBe(expected));

  test.each([
    ["images in a link", `<a href="x">${"<img alt=a>".repeat(80_000)}</a>`],
    ["images in links", `<a href="x">${"<img alt=a>".repeat(400)}</a>`.repeat(200)],
    ["images in figures in figures", `${"<figure><img alt=a>".repeat(400)}${"</figure>".repeat(400)}`.repeat(12)],
    ["images beside a long text", `<a href="x">${"words ".repeat(80_000)}${"<img alt=a>".repeat(40_000)}</a>`],
    ["links to one place", '<a href="x"><img alt="a b">c d</a>'.repeat(25_000)],
  ])("are converted in linear time: %s", (_name, body) => {
    const start = performance.now();
    text(body);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
