/** Checks a mail's HTML for accessibility, support by email clients, and size. Pure; runs in a worker thread. */
import { withInlinedCss } from "../made-html/inline-css.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { CLIPPED_BYTES, type Finding, MAX_FINDINGS } from "./finding.ts";
import { type Mail, readMail } from "./read-mail.ts";
import { supportFindings } from "./support.ts";

function* weightFindings(html: string): Generator<Finding> {
  const bytes = Buffer.byteLength(html.replaceAll(/<!--block \S+-->/g, ""));
  if (bytes <= CLIPPED_BYTES) return;
  yield {
    kind: "weight",
    rule: "size",
    severity: "error",
    message: `The HTML has ${Math.ceil(bytes / 1_024)} KB. Gmail shows the first 102 KB and hides the rest, including the unsubscribe link.`,
    fix: "Shorten the email, or link to a page with the rest.",
    path: null,
    clients: ["gmail"],
  };
}

/** Browsers ignore white space and control characters in a scheme. */
const RUNS = /^(?:javascript|vbscript|data):/i;
const LINKS = new Set(["a", "area"]);

/** Reserved for examples (RFC 2606): the starters link there. */
const EXAMPLE = /^https?:\/\/(?:www\.)?(example\.(?:com|net|org))(?:[/?#:]|$)/i;

function linkFinding(href: string): Pick<Finding, "rule" | "severity" | "message" | "fix"> | undefined {
  const [scheme] = RUNS.exec(href.replaceAll(/[\s\p{Cc}]/gu, "")) ?? [];
  if (scheme) {
    return {
      rule: "scheme",
      severity: "error",
      message: `A link starts with “${scheme.toLowerCase()}”. Email clients remove it, and filters treat the email as dangerous.`,
      fix: "Link to a web page, which starts with https://.",
    };
  }
  const [, host] = EXAMPLE.exec(href.trim()) ?? [];
  if (!host) return undefined;
  return {
    rule: "example",
    severity: "warning",
    message: `A link leads to ${host.toLowerCase()}, an address for examples.`,
    fix: "Enter the address of your own page.",
  };
}

function* linkFindings({ elements }: Mail): Generator<Finding> {
  for (const { name, attributes, path } of elements) {
    const found = LINKS.has(name) ? linkFinding(attributes.href ?? "") : undefined;
    if (found) yield { kind: "link", ...found, path, clients: [] };
  }
}

/** Sheets that colour texts, which MJML's own do not. */
const COLOURS = /<style[^>]*>[^<]*(?:color|background)\s*:/i;

/** `html` is a template without syntax errors, with marks of blocks if it was made for a check. */
export function mailFindings(html: string): Finding[] {
  const mail = readMail(COLOURS.test(html) ? withInlinedCss(html) : html);
  const found = [
    ...weightFindings(html),
    ...linkFindings(mail),
    ...accessibilityFindings(mail),
    ...supportFindings(mail),
  ];
  return found
    .toSorted((a, b) => Number(b.severity === "error") - Number(a.severity === "error"))
    .slice(0, MAX_FINDINGS);
}
