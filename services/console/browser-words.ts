/** Names the browser and the system of a session in words: "Chrome on Windows". */
import { messages } from "./messages.ts";

type Names = readonly (readonly [word: RegExp, name: string])[];

/** The first that fits: Edge, Opera and Samsung's browser also call themselves Chrome, and Chrome calls itself Safari. */
const BROWSERS: Names = [
  [/Edg(?:e|A|iOS)?\//, "Edge"],
  [/OPR\/|Opera/, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\/|Chromium\//, "Chrome"],
  [/Safari\//, "Safari"],
];

/** The first that fits: Android also calls itself Linux, and an iPhone says "like Mac OS X". */
const SYSTEMS: Names = [
  [/iPhone|iPod/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/CrOS/, "ChromeOS"],
  [/Macintosh|Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

const MAX_NAME_LENGTH = 40;

const nameIn = (names: Names, agent: string) => names.find(([word]) => word.test(agent))?.[1];

/** Names other clients by the first word of their user agent: "curl". */
export function browserWords(agent: string | null): string {
  const t = messages.sessions;
  if (!agent) return t.unknown;
  const [browser, system] = [nameIn(BROWSERS, agent), nameIn(SYSTEMS, agent)];
  if (browser && system) return t.on(browser, system);
  const client = /^(?!Mozilla\b)[\w.-]+/.exec(agent)?.[0].slice(0, MAX_NAME_LENGTH);
  return browser ?? client ?? system ?? t.unknown;
}
