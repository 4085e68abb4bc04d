/**
 * Serves a message's HTML as a page. The content is untrusted and on the service's own domain: the policy allows only
 * images and styles, and `sandbox` gives it an opaque origin.
 */
import type { Document } from "../../lib/shapes.ts";

const VIEW_CSP = [
  "default-src 'none'",
  "img-src https: http: data:",
  "media-src https: http:",
  "font-src https: http: data:",
  "style-src 'unsafe-inline' https: http:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation",
].join("; ");

export const mailDocument = (html: string): Document => ({
  content_type: "text/html; charset=utf-8",
  body: html,
  headers: {
    "content-security-policy": VIEW_CSP,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  },
});
