/**
 * A mail in the browser. Its HTML is the tenant's, on the service's own address: the policy gives it pictures and
 * styles and nothing else, and `sandbox` an origin of its own that can reach nothing of ours.
 */
import { call } from "../call.ts";
import type { Ctx } from "../lib/caller.ts";
import type { Document } from "../lib/shapes.ts";

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

export async function view(ctx: Ctx<{ sent_email_id: string }>): Promise<Document> {
  const { html } = await call(ctx, "renderer.renderView", { sentEmailId: ctx.params.sent_email_id });
  return {
    content_type: "text/html; charset=utf-8",
    body: html,
    headers: {
      "content-security-policy": VIEW_CSP,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-robots-tag": "noindex",
      "cache-control": "no-store",
    },
  };
}
