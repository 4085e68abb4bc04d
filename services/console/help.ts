/** Guides for the pages of the console, by the beginning of their path below the company. The longest one counts. */
import { isUuid } from "../lib/ids.ts";

export const HELP: Record<string, string> = {
  "": "console/#overview",
  search: "console/#search",
  campaigns: "console/#campaigns",
  "campaigns/new": "console/#new-campaign",
  "campaigns/drafts": "console/#new-campaign",
  templates: "console/#templates",
  media: "console/#media",
  subscribers: "console/#subscribers",
  lists: "console/#lists",
  segments: "console/#segments",
  import: "console/#import",
  suppressions: "console/#suppressions",
  servers: "console/#mail-servers",
  domains: "deliverability/",
  "recipient-domains": "deliverability/",
  bounces: "bounces/",
  webhooks: "webhooks/",
  settings: "console/#company",
  "settings/members": "console/#members",
  "settings/keys": "api/",
  "settings/plan": "limits/",
  "settings/audit-log": "console/#audit-log",
  account: "console/#your-account",
  companies: "console/#company",
  operator: "operations/",
};

/** Address of the guide for a page, by its path below /app/. */
export function helpOf(path: string): string {
  const parts = path.split("/");
  if (isUuid(parts[0])) parts.shift();
  while (parts.length > 0 && HELP[parts.join("/")] === undefined) parts.pop();
  return `/docs/guides/${HELP[parts.join("/")]}`;
}
