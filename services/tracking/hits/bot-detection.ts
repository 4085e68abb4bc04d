/**
 * Detects hits of machines: prefetching proxies and security scanners load pixels and follow links before anyone has
 * read the message, which makes counts worthless. The image proxies of Google and Yahoo are not included, because they
 * fetch when a person opens the message.
 */

/** Longer user agents are cut: they are untrusted, and the expression below is not linear. */
export const MAX_AGENT_LENGTH = 512;
/** No person opens a message within this time after the server accepted it, but Safe Links and similar scanners do. */
export const TOO_FAST_MS = 2_000;
/** Different links of one message clicked within BURST_MS from which a scanner is assumed. */
export const BURST_LINKS = 3;
export const BURST_MS = 2_000;

/** Apple's Mail Privacy Protection loads the images of every message, read or not. */
const APPLE_PREFETCH = "Mozilla/5.0";

// Matches whole words, because short names occur in real browsers: Cubot is a maker of phones, and `ms-office` is
// Outlook.
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

/**
 * Caches results, because a campaign is read by about a hundred kinds of programs. Bounded, because clients may send
 * anything.
 */
const MAX_KNOWN = 2_000;
const cache = new Map<string, boolean>();

/** True if the user agent alone shows a machine. Browsers never send an empty one. */
export function isMachineAgent(userAgent: string): boolean {
  const agent = userAgent.slice(0, MAX_AGENT_LENGTH).trim();
  const before = cache.get(agent);
  if (before !== undefined) return before;
  const machine = isMachine(agent);
  if (cache.size >= MAX_KNOWN) cache.clear();
  cache.set(agent, machine);
  return machine;
}

/** Removes the owner's address that robots include, so that erasing a person does not have to search user agents. */
export const withoutAddresses = (userAgent: string): string =>
  userAgent.replace(/[^\s<>"();,:]+(?:@|%40)[^\s<>"();,:]+/g, "[address]");

/** `sentAt` is null until the sender records its result; a given-up message never has one. */
export function isTooFast(at: Date, mail: { sent_at: Date | null; status: number }): boolean {
  const QUEUED_OR_SENDING = 1;
  if (!mail.sent_at) return mail.status <= QUEUED_OR_SENDING;
  return at.getTime() < mail.sent_at.getTime() + TOO_FAST_MS;
}
