import { withUtm } from "../../../services/tracking/hits/utm.ts";

const all = { source: "news", medium: "email", campaign: "Otoño & más", term: "a b", content: "x#y" };
const ALL =
  "utm_source=news&utm_medium=email&utm_campaign=Oto%C3%B1o%20%26%20m%C3%A1s&utm_term=a%20b&utm_content=x%23y";
const one = { source: "news" };

describe("UTM parameters of a link", () => {
  test.each([
    ["https://x.example", all, `https://x.example?${ALL}`],
    ["https://x.example/p", one, "https://x.example/p?utm_source=news"],
    ["https://x.example/p?", one, "https://x.example/p?utm_source=news"],
    ["https://x.example/p?a=1&", one, "https://x.example/p?a=1&utm_source=news"],
    ["https://x.example/p#top", one, "https://x.example/p?utm_source=news#top"],
    ["https://x.example/#/route?a=1", one, "https://x.example/?utm_source=news#/route?a=1"],
    ["https://x.example/?#", one, "https://x.example/?utm_source=news#"],
  ])("are added after the query and before the fragment: %s", (url, utm, tagged) => {
    expect(withUtm(url, utm)).toBe(tagged);
  });

  test("leave the query unchanged, however it is encoded", () => {
    const query = "a=1&a=2&b=%C3%BC+%20&c&=d&e=f=g&sig=A%2bb";
    expect(withUtm(`https://x.example/?${query}`, one)).toBe(`https://x.example/?${query}&utm_source=news`);
  });

  test("are not added if the address has its own, in any spelling, even empty", () => {
    for (const url of [
      "https://x.example/?utm_source=own",
      "https://x.example/?utm_source",
      "https://x.example/?utm%5Fsource=own#x",
    ]) {
      expect(withUtm(url, one)).toBe(url);
      expect(withUtm(url, { ...one, medium: "email" })).toBe(url.replace(/(?=#|$)/, "&utm_medium=email"));
    }
    expect(withUtm("https://x.example/#utm_source=own", one)).toBe("https://x.example/?utm_source=news#utm_source=own");
  });

  test("are omitted if there are none, or if the address would be too long", () => {
    expect(withUtm("https://x.example/", null)).toBe("https://x.example/");
    expect(withUtm("https://x.example/", {})).toBe("https://x.example/");
    const long = `https://x.example/?${"a".repeat(1_900)}`;
    const heavy = "€".repeat(255);
    expect(withUtm(long, { source: heavy, term: heavy, content: heavy })).toBe(long);
    expect(withUtm(long, { source: heavy }).length).toBeGreaterThan(long.length);
  });
});
