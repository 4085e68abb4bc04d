/** The look of every page that people see, and the policy that goes with it. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const PAGE_CSS = readFileSync(join(import.meta.dirname, "page.css"), "utf8");

const hashOf = (css: string) => `'sha256-${createHash("sha256").update(css).digest("base64")}'`;

/** Of a page that has more than PAGE_CSS. */
interface PageExtras {
  /** A second style element. */
  css?: string | undefined;
  /** Scheme, host and port that pictures may come from (logoSource). */
  imageSource?: string | undefined;
  /** Shown within a page of the console, where it is only looked at. */
  framed?: boolean;
  /** Scheme, host and port that a form's answer may lead to: browsers hold redirects to the policy, too. */
  leadsTo?: string | undefined;
}

/** Style elements are named by their hashes, so that no other style, and no script at all, has an effect. */
export const pageCsp = ({ css, imageSource, framed = false, leadsTo }: PageExtras = {}): string =>
  [
    "default-src 'none'",
    `style-src ${[PAGE_CSS, ...(css ? [css] : [])].map(hashOf).join(" ")}`,
    ...(imageSource ? [`img-src ${imageSource}`] : []),
    `form-action ${framed ? "'none'" : ["'self'", leadsTo].filter(Boolean).join(" ")}`,
    "base-uri 'none'",
    `frame-ancestors ${framed ? "'self'" : "'none'"}`,
    ...(framed ? ["sandbox"] : []),
  ].join("; ");

export const PAGE_CSP = pageCsp();
