/**
 * A mail's HTML as a page. It is the tenant's, on the service's own address: the policy gives it pictures and styles and nothing
 * else, and `sandbox` an origin of its own that can reach nothing of ours.
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
