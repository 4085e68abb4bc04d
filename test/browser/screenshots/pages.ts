/** Pages by name: below the company's own, or below /app where the path begins with a slash. */
import type { Filled } from "./fill.ts";

type Pages = [name: string, path: string][];

export function pagesOf({ ids }: Filled, who: "company" | "empty" | "sample"): Pages {
  if (who === "sample") {
    return [
      ["sample-overview", ""],
      ["sample-report", `campaigns/${ids.sample}`],
      ["sample-mail", `campaigns/${ids.sample}/mail`],
    ];
  }
  if (who === "empty") {
    return [
      ["empty-overview", ""],
      ["empty-campaigns", "campaigns"],
      ["empty-subscribers", "subscribers"],
      ["empty-lists", "lists"],
      ["empty-segments", "segments"],
      ["empty-templates", "templates"],
      ["empty-servers", "servers"],
      ["empty-webhooks", "webhooks"],
      ["empty-media", "media"],
    ];
  }
  return [
    ["overview", ""],
    ["campaigns", "campaigns"],
    ["campaign-sent", `campaigns/${ids.sent}`],
    ["campaign-tested", `campaigns/${ids.tested}`],
    ["campaign-scheduled", `campaigns/${ids.scheduled}`],
    ["campaign-recipients", `campaigns/${ids.sent}/recipients`],
    ["campaign-mail", `campaigns/${ids.sent}/mail`],
    ["drafts", "campaigns/drafts"],
    ["wizard-whom", "campaigns/new"],
    ["subscribers", "subscribers"],
    ["person", `subscribers/${ids.person}`],
    ["lists", "lists"],
    ["list", `lists/${ids.list}`],
    ["segments", "segments"],
    ["segment-new", "segments/new"],
    ["import", "import"],
    ["suppressions", "suppressions"],
    ["templates", "templates"],
    ["template", `templates/${ids.template}`],
    ["media", "media"],
    ["servers", "servers"],
    ["server", `servers/${ids.server}`],
    ["server-new", "servers/new"],
    ["domains", "domains"],
    ["domain", `domains/${ids.server}`],
    ["bounces", "bounces"],
    ["providers", "recipient-domains"],
    ["webhooks", "webhooks"],
    ["webhook-new", "webhooks/new"],
    ["keys", "settings/keys"],
    ["members", "settings/members"],
    ["company", "settings/company"],
    ["branding", "settings/branding"],
    ["plan", "settings/plan"],
    ["audit-log", "settings/audit-log"],
    ["search", "search?q=a"],
    ["design", "/design"],
    ["sign-in", "/login"],
    ["sign-up", "/sign-up"],
  ];
}
