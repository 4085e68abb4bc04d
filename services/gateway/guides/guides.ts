/**
 * The guides below /docs/guides/: HTML by nunjucks, from the files beside this one. No script at all, the look of the other
 * pages, and a search that the server does (search.ts).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import nunjucks from "nunjucks";
import { PAGE_CSS } from "../../lib/page-style/page-style.ts";

interface Guide {
  slug: string;
  title: string;
  about: string;
}

export const GUIDES: readonly Guide[] = [
  { slug: "first-campaign", title: "Your first real campaign", about: "relay, DNS, report, first mails" },
  {
    slug: "moving",
    title: "Moving from Mailchimp, listmonk or Brevo",
    about: "whom not to mail, subscribers, templates",
  },
  { slug: "forms", title: "Forms", about: "a form on your site, confirmation, preferences" },
  { slug: "webhooks", title: "Webhooks", about: "events, and checking their signature in five languages" },
  { slug: "limits", title: "Limits", about: "of the plan, of requests, of sizes; trying again" },
  { slug: "troubleshooting", title: "Troubleshooting", about: "what waits, what failed, what ends in spam" },
];

const LANGUAGES: readonly [name: string, file: string][] = [
  ["JavaScript", "verify.js"],
  ["Python", "verify.py"],
  ["Go", "verify.go"],
  ["PHP", "verify.php"],
  ["Ruby", "verify.rb"],
];

export const GUIDES_CSS = `${PAGE_CSS}${readFileSync(join(import.meta.dirname, "guides.css"), "utf8")}`;

export const GUIDES_CSP =
  "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const environment = new nunjucks.Environment(new nunjucks.FileSystemLoader(import.meta.dirname), {
  autoescape: true,
  throwOnUndefined: true,
});

/** Code of the guide on webhooks, as its test runs it. */
const languages = () =>
  LANGUAGES.map(([name, file]) => ({ name, code: readFileSync(join(import.meta.dirname, "verify", file), "utf8") }));

export const guidesIndex = (service: string): string =>
  environment.render("index.njk", { title: "Guides", service, root: "", q: "", guides: GUIDES });

export function guidePage(service: string, { slug, title }: Guide): string {
  const values = { title, service, root: "../", q: "", file: `${slug}.njk`, languages: languages() };
  return environment.render("guide.njk", values);
}

export interface Found {
  title: string;
  /** From /docs/guides/. */
  link: string;
  excerpt: string;
}

export const searchPage = (service: string, q: string, found: readonly Found[]): string =>
  environment.render("search.njk", { title: q ? `Search: ${q}` : "Search", service, root: "../", q, found });
