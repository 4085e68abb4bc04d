import { readLinkToken } from "../../../services/lib/tokens/link-token.ts";
import { read } from "../../support/message.ts";
import { BASE_URL, KEY, makeMail, RECIPIENT } from "../../support/render.ts";

const CLICK = new RegExp(`^${BASE_URL}/api/emails/public/click/([\\w-]+)/$`);

/** The hrefs of the delivered HTML; tracked ones as their targets. */
async function hrefs(
  body: string,
  attributes: Record<string, unknown> = {},
  options: { tracking?: boolean; copy?: boolean } = {},
) {
  const given = { body, isTransactional: true, trackingEnabled: options.tracking ?? true };
  const { message, links } = await makeMail(given, { attributes }, { copy: options.copy ?? false });
  const { html } = await read(message);
  const found = [...html.matchAll(/href=(?:"([^"]*)"|'([^']*)'|([^\s>]*))/gi)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? "",
  );
  const targets = found.map((href) => {
    const token = CLICK.exec(href)?.[1];
    return token ? readLinkToken([KEY], token) : href;
  });
  return { links, targets, html };
}

const link = (no: number) => ({ sentEmailId: RECIPIENT.id, link: no });

/** Example from the issue. */
const IMAGE_MAP = `<p><a href="https://shop.example.com/all">Everything</a></p>
<img src="https://img.example.com/map.png" width="600" height="200" usemap="#offers" alt="Two offers">
<map name="offers">
<area shape="rect" coords="0,0,300,200" href="https://shop.example.com/left?x=1&amp;y=2" alt="Left offer">
<area shape="rect" coords="300,0,600,200" href="https://shop.example.com/right/[[first_name]]" alt="Right offer">
<area shape="rect" coords="0,180,600,200" href="mailto:help@example.com" alt="Write to us">
</map>
<p><a href="[[unsubscribe_url]]">Unsubscribe</a></p>`;

describe("static links", () => {
  test("are numbered in order of appearance, and the same address once", async () => {
    const { links, targets } = await hrefs(
      '<a href="https://a.example/1">1</a><A class="x" HREF=\'http://b.example/?x=1&amp;y=2#z\'>2</A><a target=_blank href=https://c.example/3>3</a><a href="https://a.example/1">again</a>',
    );
    expect(links).toEqual(["https://a.example/1", "http://b.example/?x=1&y=2#z", "https://c.example/3"]);
    expect(targets).toEqual([link(1), link(2), link(3), link(1)]);
  });

  test.each([
    "mailto:ann@example.com",
    "tel:+123",
    "#top",
    "/relative",
    "relative.html",
    "ftp://example.com/",
    "cid:image",
    "javascript:alert(1)",
    "http://",
    "",
  ])("are not tracked if they are %j", async (href) => {
    const { links, targets } = await hrefs(`<a href="${href}">x</a>`);
    expect({ links, targets }).toEqual({ links: [], targets: [href] });
  });

  test.each([
    ["<abbr href='https://a.example/'>x</abbr>"],
    ["<link href='https://a.example/x.css'>"],
    ["<style>a:after{content:'<a href=\"https://a.example/\">'}</style>"],
    ["<a data-href='https://a.example/'>x</a>"],
    ["<a title='<a href=https://a.example/>'>x</a>"],
  ])("are none in %s", async (body) => expect((await hrefs(body)).links).toEqual([]));

  test("are stored in the form that a redirect needs", async () => {
    const { links } = await hrefs(
      '<a href=" https://bücher.example/Größe 1 ">x</a><a href="https://a.example/\\[[x]]">y</a>',
    );
    expect(links).toEqual(["https://xn--bcher-kva.example/Gr%C3%B6%C3%9Fe%201", "https://a.example/[[x]]"]);
  });

  test("are not tracked if they are longer than a token can carry", async () => {
    const long = `https://a.example/${"x".repeat(2_000)}`;
    expect((await hrefs(`<a href="${long}">x</a>`)).targets).toEqual([long]);
    expect((await hrefs('<a href="[[url]]">x</a>', { url: long })).targets).toEqual([long]);
  });

  test("are found at any allowed depth of a template", async () => {
    const body = `${"[[#if x]]".repeat(32)}<a href="https://a.example/">x</a>${"[[/if]]".repeat(32)}`;
    expect((await hrefs(body, { x: 1 })).targets).toEqual([link(1)]);
  });

  test("are tracked in image maps like <a>", async () => {
    const { links, targets } = await hrefs(IMAGE_MAP);
    expect(links).toEqual([
      "https://shop.example.com/all",
      "https://shop.example.com/left?x=1&y=2",
      "https://shop.example.com/right/[[first_name]]",
    ]);
    expect(targets.slice(0, 4)).toEqual([
      link(1),
      link(2),
      { ...link(3), url: "https://shop.example.com/right/" },
      "mailto:help@example.com",
    ]);
    expect((await hrefs('<area href="[[x]]">', { x: "javascript:alert(1)" })).targets).toEqual(["#"]);
  });

  test("are not images, backgrounds and forms, which are not tracked", async () => {
    const address = "https://a.example/x";
    const { links, html } = await hrefs(
      `<table background="${address}"><img src="${address}"><form action="${address}"><base href="${address}"><!--[if mso]><v:fill src="${address}"/><![endif]-->`,
    );
    expect(links).toEqual([]);
    expect(html.split(address)).toHaveLength(6);
  });

  test("are tracked within conditional comments for Outlook", async () => {
    const { links } = await hrefs('<!--[if mso]><a href="https://a.example/">x</a><![endif]-->');
    expect(links).toEqual(["https://a.example/"]);
  });
});

describe("links with variables", () => {
  test("carry their address in the token and are counted by their template", async () => {
    const body = '[[#each items]]<a href="[[this.url]]?c=[[code]]&amp;n=[[@index]]">x</a>[[/each]]';
    const items = [{ url: "https://shop.example/1" }, { url: "https://shop.example/Größe 2" }];
    const { links, targets } = await hrefs(body, { items, code: "a&b" });
    expect(links).toEqual(["[[this.url]]?c=[[code]]&n=[[@index]]"]);
    expect(targets).toEqual([
      { ...link(1), url: "https://shop.example/1?c=a%26b&n=0" },
      { ...link(1), url: "https://shop.example/Gr%C3%B6%C3%9Fe%202?c=a%26b&n=1" },
    ]);
  });

  test("may hold conditions", async () => {
    const body = '<a href="[[#if vip]]https://vip.example/[[#else]]https://all.example/[[/if]]">x</a>';
    expect((await hrefs(body, { vip: true })).targets).toEqual([{ ...link(1), url: "https://vip.example/" }]);
    expect((await hrefs(body)).targets).toEqual([{ ...link(1), url: "https://all.example/" }]);
  });

  test("are not tracked if the value makes them anything but http", async () => {
    const body = '<a href="[[url]]">x</a>';
    expect((await hrefs(body, { url: "mailto:a@b.example" })).targets).toEqual(["mailto:a@b.example"]);
    expect((await hrefs(body, { url: "" })).targets).toEqual([""]);
    expect((await hrefs(body, { url: "/x?a=1&b=2" })).targets).toEqual(["/x?a=1&amp;b=2"]);
  });

  test.each([
    "javascript:alert(1)",
    " JavaScript:alert(1)",
    "data:text/html,<script>1</script>",
    "vbscript:x",
    "\u0001javascript:x",
    "java\tscr\nipt:x",
  ])("run nothing with %j as a value, tracked or not", async (url) => {
    for (const tracking of [true, false]) {
      expect((await hrefs('<a href="[[url]]">x</a>', { url }, { tracking })).targets).toEqual(["#"]);
    }
  });

  test.each([
    "&#106;avascript&#58;alert(1)",
    "&#106avascript&#58alert(1)",
    "&#0000000106;avascript:alert(1)",
    "java&Tab;scr&NewLine;ipt&colon;alert(1)",
  ])("run nothing with an unescaped %j, which spells a scheme in entities", async (url) => {
    expect((await hrefs('<a href="[[[url]]]">x</a>', { url })).targets).toEqual(["#"]);
  });

  test("add no attribute without quotes, tracked or not", async () => {
    const x = "a onclick=alert(1)\tb\n`";
    for (const body of ["<a href=[[x]]>x</a>", "<a href=/[[x]]>x</a>", "<a href=https://a.example/[[x]]>x</a>"]) {
      for (const tracking of [true, false]) {
        const { html } = await hrefs(body, { x }, { tracking });
        expect(html).toMatch(/<a href=[^\s`]+>x<\/a>/);
      }
    }
  });

  test("become text if a block begins in the address and ends outside", async () => {
    const { links, html } = await hrefs('<a href="https://a.example/[[#if x]]1">one</a>[[/if]]', { x: 1 });
    expect(links).toEqual([]);
    expect(html).toContain('<a href="https://a.example/1">one</a>');
  });
});

describe("Flockmail's own pages", () => {
  test.each(["unsubscribe_url", "view_in_browser_url", "preferences_url"])("are not tracked: [[%s]]", async (name) => {
    const { links, targets } = await hrefs(`<a href="[[${name}]]">x</a><a href="[[ ${name} ]]#a">x</a>`);
    expect(links).toEqual([]);
    expect(targets[0]).toMatch(new RegExp(`^${BASE_URL}/api/emails/public/(unsubscribe|view|preferences)/[\\w-]+/$`));
  });
});

describe("the open pixel", () => {
  const pixel = /<img src="https:\/\/mail\.example\.org\/api\/emails\/public\/open\/([\w-]{36})\.gif"[^>]*>/g;

  test.each([
    ["<html><body><p>x</p></body></html>", /open\/[^>]*><\/body><\/html>\s*$/],
    ["<p>x</p>", /open\/[^>]*>\s*$/],
    ["<body></body><pre></body></pre></BODY >", /open\/[^>]*><\/BODY >\s*$/],
    ["<html><p>x</p></html>", /open\/[^>]*><\/html>\s*$/],
  ])("is placed before the end of %s", async (body, place) => {
    const { html } = await hrefs(body);
    expect(html).toMatch(place);
    const found = [...html.matchAll(pixel)];
    expect(found.map((match) => readLinkToken([KEY], match[1]!))).toEqual([link(0)]);
  });

  test("is absent without tracking, and in copies, like tracked links", async () => {
    for (const options of [{ tracking: false }, { copy: true }]) {
      const { html, targets } = await hrefs(
        '<a href="https://a.example/?a&amp;b">x</a><a href="https://b.example/[[x]]">y</a>',
        { x: 1 },
        options,
      );
      expect(html).not.toMatch(pixel);
      expect(targets).toEqual(["https://a.example/?a&amp;b", "https://b.example/1"]);
    }
  });
});
