/** The look of every page that people see, and the policy that goes with it. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const PAGE_CSS = readFileSync(join(import.meta.dirname, "page.css"), "utf8");

/** The one style element is named by its hash, so that no other style, and no script at all, has an effect. */
export const PAGE_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(PAGE_CSS).digest("base64")}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");
