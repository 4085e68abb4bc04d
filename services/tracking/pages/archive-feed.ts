/** Archive of a list as RSS 2.0. */
import { escapeHtml } from "../../lib/escape-html.ts";

interface FeedItem {
  title: string;
  url: string;
  at: Date;
}

export interface Feed {
  title: string;
  description: string;
  /** Address of the corresponding page. */
  url: string;
  feedUrl: string;
  items: readonly FeedItem[];
}

/**
 * Characters that XML 1.0 does not allow even escaped: lone surrogates, most control characters, and two
 * non-characters.
 */
const NO_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const xml = (text: string): string => escapeHtml(text.toWellFormed().replace(NO_XML, ""));

/** RFC 822 date with a four-digit year. */
const rfc822 = (at: Date): string => at.toUTCString().replace("GMT", "+0000");

const itemXml = ({ title, url, at }: FeedItem): string => `<item>
<title>${xml(title)}</title>
<link>${xml(url)}</link>
<guid isPermaLink="true">${xml(url)}</guid>
<pubDate>${rfc822(at)}</pubDate>
</item>
`;

export const feedXml = ({
  title,
  description,
  url,
  feedUrl,
  items,
}: Feed): string => `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${xml(title)}</title>
<link>${xml(url)}</link>
<description>${xml(description || title)}</description>
<atom:link href="${xml(feedUrl)}" rel="self" type="application/rss+xml"/>
${items[0] ? `<lastBuildDate>${rfc822(items[0].at)}</lastBuildDate>\n` : ""}${items.map(itemXml).join("")}</channel>
</rss>
`;
