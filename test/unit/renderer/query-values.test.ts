/** A value in the query of a link stays one value with any characters; and Outlook's buttons are links, too. */
import { readLinkToken } from "../../../services/lib/tokens/link-token.ts";
import { read } from "../../support/message.ts";
import { BASE_URL, KEY, makeMail, RECIPIENT, say } from "../../support/render.ts";

const data = {
  email: "ann+tag@example.com",
  name: "A&B = \"C\" #1 'ü'",
  url: "https://shop.example/a?b=c&d=e#f",
  x: 1,
};
const ENCODED = "A%26B%20%3D%20%22C%22%20%231%20&#39;%C3%BC&#39;";

const href = (address: string, more: object = {}) =>
  /<a href="([^"]*)">/.exec(say(`<a href="${address}">x</a>`, { ...data, ...more }).html)?.[1];

describe("a value in the address of a link", () => {
  test.each([
    ["https://x.example/?e=[[mail]]&amp;n=[[name]]", `https://x.example/?e=ann%2Btag%40example.com&amp;n=${ENCODED}`],
    ["HTTP://x.example/#[[name]]", `HTTP://x.example/#${ENCODED}`],
    [" https://x.example/?n=[[name]]", ` https://x.example/?n=${ENCODED}`],
    ["https://x.example/&#63;n=[[name]]", `https://x.example/&#63;n=${ENCODED}`],
    ["[[base]]?n=[[name]]", `https://b.example/?n=${ENCODED}`],
    ["[[url]]&n=[[name]]", `https://shop.example/a?b=c&amp;d=e#f&n=${ENCODED}`],
    ["[[#if x]]https[[#else]]http[[/if]]://x.example/?n=[[name]]", `https://x.example/?n=${ENCODED}`],
    [
      "https://x.example/[[#if y]]?a=[[name]][[#else]]?b=[[name]][[/if]]&c=[[name]]",
      `https://x.example/?b=${ENCODED}&c=${ENCODED}`,
    ],
    ["https://x.example/?[[#each list]]i=[[this]]&[[/each]]", "https://x.example/?i=a%26b&i=c&"],
    [
      "https://x.example/?to=[[unsubscribe_url]]",
      `https://x.example/?to=${encodeURIComponent(`${BASE_URL}/api/emails/public/unsubscribe/${RECIPIENT.id}/`)}`,
    ],
    [
      "https://x.example/?to=[[preferences_url]]",
      `https://x.example/?to=${encodeURIComponent(`${BASE_URL}/api/emails/public/preferences/TOKEN/`)}`,
    ],
    ["mailto:a@x.example?subject=[[name]]", `mailto:a@x.example?subject=${ENCODED}`],
    [
      "mailto:[[mail]]?subject=[[name]]&amp;body=[[mail]]",
      `mailto:ann%2Btag@example.com?subject=${ENCODED}&amp;body=ann%2Btag%40example.com`,
    ],
    ["mailto:[[header]]?subject=x", "mailto:a@x.example%3Fbcc%3Devil@x.example%2C%20b@x.example?subject=x"],
    ["MAILTO:?to=[[mail]]", "MAILTO:?to=ann%2Btag%40example.com"],
    ["sms:+491?body=[[name]]", `sms:+491?body=${ENCODED}`],
    ["\\[[x]]/?n=[[name]]", `[[x]]/?n=${ENCODED}`],
    ["/x?n=[[name]]", `/x?n=${ENCODED}`],
    ["https://x.example/?l=[[list]]", "https://x.example/?l=a%26b%2C%20c"],
    ["https://x.example/?n=[[half]]", "https://x.example/?n=%EF%BF%BD"],
  ])("is percent-encoded after ? and #: %s", (address, expected) => {
    const header = "a@x.example?bcc=evil@x.example, b@x.example";
    const more = { header, mail: data.email, base: "https://b.example/", list: ["a&b", "c"], half: "\ud800" };
    expect(href(address, more)).toBe(expected);
  });

  test.each([
    ["[[url]]", "https://shop.example/a?b=c&amp;d=e#f"],
    ["[[url]]&amp;e=f", "https://shop.example/a?b=c&amp;d=e#f&amp;e=f"],
    ["https://x.example/?[[[raw]]]", "https://x.example/?a=b&c=d"],
    ["https://x.example/[[name]]", "https://x.example/A&amp;B = &quot;C&quot; #1 &#39;ü&#39;"],
  ])("is unchanged elsewhere, at the beginning of the address, and raw: %s", (address, expected) => {
    expect(href(address, { raw: "a=b&c=d" })).toBe(expected);
  });

  test("is encoded in the text part, and nowhere but in addresses", () => {
    const { html, text } = say(
      '<p title="?[[name]]">?[[name]]</p><a href="https://x.example/?n=[[name]]">[[name]]</a>',
      {
        name: "A&B",
      },
    );
    expect(html).toBe('<p title="?A&amp;B">?A&amp;B</p><a href="https://x.example/?n=A%26B">A&amp;B</a>');
    expect(text).toBe("?A&B\n\nA&B (https://x.example/?n=A%26B)");
  });

  test.each([false, true])("reaches the link's target (in an email that is mostly not ASCII: %s)", async (cyrillic) => {
    const body = `${cyrillic ? "Здравствуйте ".repeat(40) : ""}<a href="https://x.example/?e=[[email]]&n=[[name]]&t=[[t]]">x</a>`;
    const attributes = { ...data, t: "a b" };
    const to = { email: data.email, attributes };
    for (const trackingEnabled of [true, false]) {
      const { html } = await read((await makeMail({ body, trackingEnabled }, to)).message);
      const address = /<a href="([^"]*)">x/.exec(html)![1]!.replaceAll("&amp;", "&").replaceAll("&#39;", "'");
      const token = /\/click\/([\w-]+)\/$/.exec(address)?.[1];
      const { searchParams } = new URL(token ? readLinkToken([KEY], token)!.url! : address);
      expect(token !== undefined).toBe(trackingEnabled);
      expect(Object.fromEntries(searchParams)).toEqual({ e: data.email, n: data.name, t: "a b" });
    }
  });
});

describe("a value in any other address", () => {
  const URL_ = "https://img.example/a.png?n=[[name]]";
  const DONE = `https://img.example/a.png?n=${ENCODED}`;
  test.each([
    '<img src="URL" alt="">',
    "<IMG SRC='URL'>",
    "<img src=URL width=1>",
    '<td background="URL" class="x">',
    '<table BACKGROUND="URL">',
    '<video poster="URL"><source src="URL"></video>',
    '<img srcset="URL 1x, URL 2x" src="cid:a">',
    '<td style="background:url(URL) #fff;color:red">',
    "<td style=\"background-image:url('URL')\">",
    '<style>td { background: url("URL") }</style>',
    '<!--[if mso]><v:fill src="URL" type="tile"/><v:imagedata src="URL"/><![endif]-->',
    '<form action="URL"></form>',
    "<p>Go to URL, please. (URL)</p>",
    '<a href="https://x.example/">URL</a>',
  ])("is percent-encoded as in a link: %s", (html) => {
    expect(say(html.replaceAll("URL", URL_), data).html).toBe(html.replaceAll("URL", DONE));
  });

  test("may be the beginning of the address, as in a link", () => {
    expect(
      say('<img src="[[base]]?n=[[name]]"><td background="[[base]]">', { ...data, base: "https://b.example/?a&b" })
        .html,
    ).toBe(`<img src="https://b.example/?a&amp;b?n=${ENCODED}"><td background="https://b.example/?a&amp;b">`);
  });

  test.each([
    '<td style="background:url(https://x.example/?a);color:[[name]]">',
    '<img src="https://x.example/?a" alt="[[name]]">',
    "<p>https://x.example/?a [[name]]</p>",
    "<p>https://x.example/?a<br>[[name]]</p>",
    "<p>Is it [[name]]? [[name]]</p>",
  ])("is encoded up to the end of the address: %s", (html) => {
    expect(say(html, { name: "A&B" }).html).toBe(html.replaceAll("[[name]]", "A&amp;B"));
  });

  test("is encoded in a text part that is written by hand", async () => {
    const textBody =
      "Hello [[name]],\nhttps://x.example/a?m=[[email]]&n=[[name]]\n<https://x.example/#[[name]]> [[name]]\nmailto:[[email]]?subject=[[name]]\n[[#each list]]https://x.example/?i=[[this]]\n[[/each]][[#if name]]https://x.example/?[[#else]]-[[/if]][[name]]\n[[unsubscribe_url]]";
    const attributes = { name: "A&B", list: ["a b", "c&d"] };
    const { text } = await read(
      (await makeMail({ textBody, isTransactional: true }, { email: "anna+news@example.com", attributes })).message,
    );
    expect(text!.trim().split("\n")).toEqual([
      "Hello A&B,",
      "https://x.example/a?m=anna%2Bnews%40example.com&n=A%26B",
      "<https://x.example/#A%26B> A&B",
      "mailto:anna%2Bnews@example.com?subject=A%26B",
      "https://x.example/?i=a%20b",
      "https://x.example/?i=c%26d",
      "https://x.example/?A%26B",
      `${BASE_URL}/api/emails/public/unsubscribe/${RECIPIENT.id}/`,
    ]);
  });

  test("is written once in the text part if a link shows its own URL", () => {
    const { text } = say(
      '<a href="mailto:[[mail]]">[[mail]]</a> <a href="https://x.example/?n=[[name]]">https://x.example/?n=[[name]]</a>',
      {
        mail: "anna+news@example.com",
        name: "A&B",
      },
    );
    expect(text).toBe("anna+news@example.com https://x.example/?n=A%26B");
  });
});

describe("buttons for Outlook", () => {
  const button = (address: string) =>
    `<!--[if mso]><v:roundrect xmlns:v="urn:schemas-microsoft-com:vml" style="height:40px" href="${address}" arcsize="10%"><w:anchorlock/><center>Buy</center></v:roundrect><![endif]--><!--[if !mso]><!--><a href="${address}">Buy</a><!--<![endif]-->`;

  test.each([
    ["https://a.example/", "https://a.example/"],
    ["https://a.example/?n=[[name]]", "https://a.example/?n=A%26B"],
  ])("are tracked like the links beside them: %s", async (address, url) => {
    const { message, links } = await makeMail({ body: button(address) }, { attributes: { name: "A&B" } });
    expect(links).toEqual([address]);
    const { html } = await read(message);
    const tokens = [...html.matchAll(/<(?:a|v:roundrect) [^>]*href="[^"]*\/click\/([\w-]+)\/"/g)].map(
      (match) => match[1]!,
    );
    expect(tokens).toHaveLength(2);
    for (const token of tokens) {
      const { link, url: own } = readLinkToken([KEY], token)!;
      expect({ link, url: own ?? links[link - 1] }).toEqual({ link: 1, url });
    }
  });

  test.each(["v:rect", "V:Oval", "v:shape"])("may be a <%s>, and run no code", (name) => {
    const { html } = say(`<!--[if mso]><${name} href="[[x]]"></${name}><![endif]-->`, { x: "javascript:alert(1)" });
    expect(html).toContain('href="#"');
  });

  test("are not links if they are only a comment", async () => {
    const { links } = await makeMail({
      body: '<!-- <a href="https://a.example/">x</a> --><a href="https://b.example/">x</a>',
    });
    expect(links).toEqual(["https://b.example/"]);
  });
});
