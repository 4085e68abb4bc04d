/**
 * Serves a mail's HTML for an iframe. The HTML is untrusted but served from the console's origin, so a CSP allows
 * images and styles but no scripts or connections, and `sandbox` gives it an opaque origin without access to cookies or
 * pages of the console.
 */
import type { RawResponse } from "./contract.ts";

const FRAME_POLICY = [
  "default-src 'none'",
  "img-src https: http: data: 'self'",
  "media-src https: http:",
  "font-src https: http: data:",
  "style-src 'unsafe-inline' https: http:",
  "form-action 'none'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'self'",
  "sandbox",
].join("; ");

export const mailFrame = (html: string): RawResponse => ({
  content_type: "text/html; charset=utf-8",
  body: html,
  headers: {
    "content-security-policy": FRAME_POLICY,
    // Overrides the default `DENY`, so that the console can frame it.
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  },
});
