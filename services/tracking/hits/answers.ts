/** HTTP responses to opens and clicks. */
import type { Document } from "../../lib/shapes.ts";

/** Smallest transparent GIF. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const PIXEL_TYPE = "image/gif";

// The URL is a credential of the recipient, so neither caches nor the next site may keep it.
const NOT_KEPT = { "cache-control": "no-store, max-age=0", "referrer-policy": "no-referrer" };

/** Headers are ASCII only; URL encodes the rest and leaves encoded parts unchanged. */
const locationOf = (url: string): string => new URL(url).href;

export const pixel = (): Document => ({ content_type: PIXEL_TYPE, body: PIXEL, headers: NOT_KEPT });

export const redirect = (url: string): Document => ({
  status: 302,
  content_type: "text/plain; charset=utf-8",
  body: "",
  headers: { ...NOT_KEPT, location: locationOf(url) },
});
