import {
  isMachineAgent,
  isTooFast,
  MAX_AGENT_LENGTH,
  TOO_FAST_MS,
  withoutAddresses,
} from "../../../services/tracking/hits/bot-detection.ts";

const people = [
  "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
  "Mozilla/5.0 (Linux; Android 10; CUBOT_X18) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; Android 9; Cubot P30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99.0 Mobile Safari/537.36",
  "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/7.0; ms-office; MSOffice 16)",
  "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17928; Pro)",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) [Pinterest/iOS]",
  "Thunderbird/128.3.0",
  // A person opened the message, and the provider's proxy fetched the image.
  "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
  "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html",
];

const machines = [
  "",
  "  ",
  "Mozilla/5.0",
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "TelegramBot (like TwitterBot)",
  "WhatsApp/2.23.20.0",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/119.0.0.0 Safari/537.36",
  "Barracuda Sentinel (EE)",
  "Mozilla/5.0 (compatible; Proofpoint Essentials)",
  "Mimecast Link Scanner",
  "curl/8.5.0",
  "Wget/1.21.3",
  "python-requests/2.31.0",
  "Go-http-client/2.0",
  "Java/17.0.9",
  "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
  "SomeCrawler crawler 1.0",
];

describe("the detection of machines", () => {
  test.each(people)("takes for a person: %s", (agent) => expect(isMachineAgent(agent)).toBe(false));
  test.each(machines)("takes for a machine: %j", (agent) => expect(isMachineAgent(agent)).toBe(true));

  test("matches only the beginning of a long user agent, which limits CPU time", () => {
    const browser = people[0]!.padEnd(MAX_AGENT_LENGTH, " x");
    expect(isMachineAgent(`${browser} Googlebot`)).toBe(false);
    expect(isMachineAgent(`Googlebot ${browser}`)).toBe(true);
  });

  test("returns the same results from its cache", () => {
    const agents = Array.from({ length: 5_000 }, (_, n) => `${n % 3 === 0 ? "Googlebot" : people[0]} ${n}`);
    for (const _ of [1, 2]) expect(agents.map(isMachineAgent)).toEqual(agents.map((_, n) => n % 3 === 0));
  });
});

describe("a hit is too fast to be a person's", () => {
  const at = new Date();
  const sentBefore = (ms: number) => ({ sent_at: new Date(at.getTime() - ms), status: 2 });

  test("within two seconds after the server accepted the mail", () => {
    expect(isTooFast(at, sentBefore(0))).toBe(true);
    expect(isTooFast(at, sentBefore(TOO_FAST_MS - 1))).toBe(true);
    expect(isTooFast(at, sentBefore(TOO_FAST_MS))).toBe(false);
  });

  test("before the result is recorded, but not if there will be none", () => {
    expect(isTooFast(at, { sent_at: null, status: 0 })).toBe(true);
    expect(isTooFast(at, { sent_at: null, status: 1 })).toBe(true);
    expect(isTooFast(at, { sent_at: null, status: 6 })).toBe(false);
  });
});

test.each([
  ["Slurp/2.0 (owner@bots.example; http://bots.example)", "Slurp/2.0 ([address]; http://bots.example)"],
  ["Reader <ann%40one.example>, a@b", "Reader <[address]>, [address]"],
  [people[0]!, people[0]!],
])("addresses in a user agent are not stored: %s", (userAgent, stored) => {
  expect(withoutAddresses(userAgent)).toBe(stored);
});
