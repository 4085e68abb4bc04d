/**
 * Which hits are a machine's and not a person's: prefetching proxies and security scanners load pixels and follow links
 * before anyone has read the mail, and numbers that count them are worth nothing.
 *
 * The image proxies of Google and Yahoo are not here: they fetch when a person opens the mail.
 */

/** More of a user agent is neither read nor stored: it comes from the client, and the expression below is not linear. */
export const MAX_AGENT_LENGTH = 512;
/** Nobody reads a mail within this time after the server accepted it; Safe Links and its like fetch right then. */
export const TOO_FAST_MS = 2_000;
/** So many different links of one mail within BURST_MS: someone checks them all. */
export const BURST_LINKS = 3;
export const BURST_MS = 2_000;

/** Apple's Mail Privacy Protection, which loads every mail's images whether it is read or not. */
const APPLE_PREFETCH = "Mozilla/5.0";

// Whole words where a short name could hide in a real browser's: Cubot is a maker of phones, and `ms-office` is Outlook.
const SCANNERS = new RegExp(
  [
    "\\b(?:[a-z-]*bot|crawler|spider|scanner|urlscan|linkcheck(?:er)?|validator|monitor(?:ing)?|uptime\\w*|pingdom)\\b(?<!\\bcubot)",
    "(?:google|bing|apple|yandex|facebook|twitter|linkedin|slack|telegram|discord|ahrefs|semrush)bot",
    "\\b(?:proofpoint|mimecast|barracuda|symantec|messagelabs|forcepoint|trendmicro|fireeye|trellix|sophos|zscaler|ironport)",
    "\\b(?:safelinks|microsoft office protocol discovery|microsoft preview|skypeuripreview|bingpreview)",
    "\\b(?:facebookexternalhit|whatsapp|slack-imgproxy|embedly|iframely|outbrain|vkshare)",
    "\\b(?:headlesschrome|phantomjs|slimerjs|selenium|puppeteer|playwright)",
    "^(?:curl|wget|libwww-perl|lwp::|python-requests|python-urllib|aiohttp|httpx|go-http-client|java/|apache-httpclient|okhttp|axios/|node-fetch|ruby|php/|guzzlehttp|postmanruntime|winhttp)",
  ].join("|"),
  "i",
);

const isMachine = (agent: string): boolean => agent === "" || agent === APPLE_PREFETCH || SCANNERS.test(agent);

/** A campaign is read by a hundred kinds of programs: each is looked at once. Bounded, because who asks may say anything. */
const MAX_KNOWN = 2_000;
const known = new Map<string, boolean>();

/** True where the user agent alone says that no person is behind it. An empty one is none that a browser sends. */
export function isMachineAgent(userAgent: string): boolean {
  const agent = userAgent.slice(0, MAX_AGENT_LENGTH).trim();
  const before = known.get(agent);
  if (before !== undefined) return before;
  const machine = isMachine(agent);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(agent, machine);
  return machine;
}

/** Robots name the address of their owner. None is stored, so that erasing a person need not search the user agents of others. */
export const withoutAddresses = (userAgent: string): string =>
  userAgent.replace(/[^\s<>"();,:]+(?:@|%40)[^\s<>"();,:]+/g, "[address]");

/** `sentAt` is null while the sender has not recorded its result; a recipient that was given up had no such moment. */
export function isTooFast(at: Date, mail: { sent_at: Date | null; status: number }): boolean {
  const QUEUED_OR_SENDING = 1;
  if (!mail.sent_at) return mail.status <= QUEUED_OR_SENDING;
  return at.getTime() < mail.sent_at.getTime() + TOO_FAST_MS;
}
