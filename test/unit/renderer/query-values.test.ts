/** A value in the query of a link is one value, whatever characters it has; and Outlook's buttons are links, too. */
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
    ["https://x.example/?l=[[list]]", "https://x.example/?l=a%26b%2C%20c"],
    ["https://x.example/?n=[[half]]", "https://x.example/?n=%EF%BF%BD"],
  ])("is percent-encoded behind ? and #: %s", (address, expected) => {
    const more = { mail: data.email, base: "https://b.example/", list: ["a&b", "c"], half: "\ud800" };
    expect(href(address, more)).toBe(expected);
  });

  test.each([
    ["[[url]]", "https://shop.example/a?b=c&amp;d=e#f"],
    ["[[url]]&amp;e=f", "https://shop.example/a?b=c&amp;d=e#f&amp;e=f"],
    ["https://x.example/?[[[raw]]]", "https://x.example/?a=b&c=d"],
    ["https://x.example/[[name]]", "https://x.example/A&amp;B = &quot;C&quot; #1 &#39;ü&#39;"],
    ["mailto:a@x.example?subject=[[name]]", "mailto:a@x.example?subject=A&amp;B = &quot;C&quot; #1 &#39;ü&#39;"],
    ["\\[[x]]/?n=[[name]]", "[[x]]/?n=A&amp;B = &quot;C&quot; #1 &#39;ü&#39;"],
    ["/x?n=[[name]]", "/x?n=A&amp;B = &quot;C&quot; #1 &#39;ü&#39;"],
  ])("stays as it is elsewhere, at the beginning of the address, and raw: %s", (address, expected) => {
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

  test.each([false, true])(
    "arrives where the link leads (in a mail that is mostly not ASCII: %s)",
    async (cyrillic) => {
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
    },
  );
});

describe("buttons for Outlook", () => {
  const button = (address: string) =>
    `<!--[if mso]><v:roundrect xmlns:v="urn:schemas-microsoft-com:vml" style="height:40px" href="${address}" arcsize="10%"><w:anchorlock/><center>Buy</center></v:roundrect><![endif]--><!--[if !mso]><!--><a href="${address}">Buy</a><!--<![endif]-->`;

  test.each([
    ["https://a.example/", "https://a.example/"],
    ["https://a.example/?n=[[name]]", "https://a.example/?n=A%26B"],
  ])("are tracked like the links that stand beside them: %s", async (address, url) => {
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

  test("links in a comment that nobody reads are none", async () => {
    const { links } = await makeMail({
      body: '<!-- <a href="https://a.example/">x</a> --><a href="https://b.example/">x</a>',
    });
    expect(links).toEqual(["https://b.example/"]);
  });
});
