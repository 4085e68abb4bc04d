/** Provides the style of all public pages and their content security policy. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const PAGE_CSS = readFileSync(join(import.meta.dirname, "page.css"), "utf8");

const hashOf = (css: string) => `'sha256-${createHash("sha256").update(css).digest("base64")}'`;

/** Additions of a page to PAGE_CSS. */
interface PageExtras {
  /** A second style element. */
  css?: string | undefined;
  /** Origin of images (logoSource). */
  imageSource?: string | undefined;
  /** Set if the page is shown as a preview inside the console. */
  framed?: boolean;
  /** Origin to which a form's response may redirect: browsers apply the policy to redirects, too. */
  leadsTo?: string | undefined;
}

/** Style elements are allowed by hash, so that no other style, and no script at all, has an effect. */
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
