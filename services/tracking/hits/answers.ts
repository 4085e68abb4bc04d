/** What a reader's mail program gets for an open or a click. */
import type { Document } from "../../lib/shapes.ts";

/** The smallest transparent GIF. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const PIXEL_TYPE = "image/gif";

// The URL is a credential of the recipient: neither a cache nor the next site should keep it.
const NOT_KEPT = { "cache-control": "no-store, max-age=0", "referrer-policy": "no-referrer" };

/** A header carries ASCII only; the parsed form is that, and leaves alone what is encoded already. */
const locationOf = (url: string): string => new URL(url).href;

export const pixel = (): Document => ({ content_type: PIXEL_TYPE, body: PIXEL, headers: NOT_KEPT });

export const redirect = (url: string): Document => ({
  status: 302,
  content_type: "text/plain; charset=utf-8",
  body: "",
  headers: { ...NOT_KEPT, location: locationOf(url) },
});
