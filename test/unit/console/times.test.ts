import { browserWords } from "../../../services/console/browser-words.ts";
import { agoOf, clockOf, dayOf, shortOf, timeOf } from "../../../services/console/times.ts";

const AT = "2026-07-01T23:30:00.000Z";

test("a time is shown in its zone with the zone's name, and a day is that of the zone", () => {
  expect([timeOf(AT, "UTC"), timeOf(AT, "Asia/Tokyo"), timeOf(null, "UTC")]).toEqual([
    "1 Jul 2026, 23:30 UTC",
    "2 Jul 2026, 08:30 (Asia/Tokyo)",
    "–",
  ]);
  expect([dayOf(AT, "America/New_York"), dayOf(AT, "Asia/Tokyo")]).toEqual(["1 Jul 2026", "2 Jul 2026"]);
  expect(clockOf(AT, "No/Such_Zone")).toBe("1 Jul 2026, 23:30");
  expect(["2026-07-01T23:30:00", "2026-07-01"].map(shortOf)).toEqual(["1 Jul 2026, 23:30", "1 Jul 2026"]);
});

test.each([
  [0, "just now"],
  [-59, "just now"],
  [-60, "1 minute ago"],
  [-3 * 3_600, "3 hours ago"],
  [-6 * 86_400, "6 days ago"],
  [-8 * 86_400, "2 Jul 2026"],
  [2 * 3_600, "in 2 hours"],
])("a time in %s seconds is shown as %s", (seconds, text) => {
  expect(agoOf(AT, "Asia/Tokyo", Date.parse(AT) - seconds * 1_000)).toBe(
    text === "2 Jul 2026" ? dayOf(AT, "Asia/Tokyo") : text,
  );
});

test.each([
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Chrome on Windows",
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
    "Edge on Windows",
  ],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15",
    "Safari on macOS",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1",
    "Chrome on iPhone",
  ],
  [
    "Mozilla/5.0 (Linux; Android 15; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
    "Samsung Internet on Android",
  ],
  [
    "Mozilla/5.0 (X11; CrOS x86_64 16181.61.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Chrome on ChromeOS",
  ],
  ["curl/8.5.0", "curl"],
  ["node", "node"],
  ["Mozilla/5.0 (Something)", "Unknown browser"],
  ["<b>", "Unknown browser"],
  [`${"x".repeat(200)}/1`, "x".repeat(40)],
  ["", "Unknown browser"],
  [null, "Unknown browser"],
])("the user agent %s is called %s", (agent, words) => {
  expect(browserWords(agent)).toBe(words);
});
