/**
 * A mail's HTML as the document of a frame. It is what users stored, on the console's own address: the policy lets it load
 * pictures and styles and run nothing, and `sandbox` gives it an origin that reaches nothing of ours.
 */
import type { Shown } from "./contract.ts";

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

export const mailFrame = (html: string): Shown => ({
  content_type: "text/html; charset=utf-8",
  body: html,
  headers: {
    "content-security-policy": FRAME_POLICY,
    // The service's own answers say DENY.
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  },
});
