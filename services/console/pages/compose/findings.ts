/** What the review of a campaign finds: a sentence for the author, and the page that leads to the fix. */
import type { ReturnsOf } from "../../../contracts.ts";
import { isUuid } from "../../../lib/ids.ts";
import { messages } from "../../messages.ts";
import { type CompanyVisit, companyPath } from "../../request.ts";
import { type Draft, draftPath, textIn } from "./draft.ts";

export interface Fix {
  href: string;
  label: string;
}

export interface Finding {
  state: "good" | "bad" | "unknown";
  sentence: string;
  fix?: Fix;
}

export const good = (sentence: string): Finding => ({ state: "good", sentence });
export const bad = (sentence: string, fix: Fix): Finding => ({ state: "bad", sentence, fix });
export const unknown = (sentence: string, fix?: Fix): Finding => ({ state: "unknown", sentence, ...(fix && { fix }) });

/** Where the mail's text is written. */
export function toContent(visit: CompanyVisit, { id, body }: Draft): Fix {
  const template = textIn(body, "template_id");
  const href = isUuid(template) ? companyPath(visit, `templates/${template}`) : draftPath(visit, id, "what");
  return { href, label: messages.newCampaign.editContent };
}

type Check = ReturnsOf<"smtp-sender.deliverability">["checks"][number]["name"];

/** Where what the DNS check of a server found is mended. */
export function toDomain(visit: CompanyVisit, server: string, name: Check): Fix {
  const t = messages.newCampaign;
  if (name === "bounce_address") return { href: companyPath(visit, `servers/${server}`), label: t.editServer };
  return { href: companyPath(visit, name === "links" ? "domains" : `domains/${server}`), label: t.setUpDomain };
}

/** From this on a warning tells how to write a default in a template. */
const HOW_TO = / Use \[\[.*$/;
const NO_UNSUBSCRIBE = /^No visible unsubscribe link/;

/** Warnings about the content, which are written for authors of templates. */
export const contentFindings = (visit: CompanyVisit, draft: Draft, warnings: readonly string[]): Finding[] =>
  warnings.map((warning) => {
    const t = messages.newCampaign;
    if (NO_UNSUBSCRIBE.test(warning)) return good(t.unsubscribeAdded);
    const sentence = HOW_TO.test(warning) ? `${warning.replace(HOW_TO, "")} ${t.addFallback}` : warning;
    return bad(sentence, toContent(visit, draft));
  });

type Server = ReturnsOf<"smtp-sender.getConfig">;

/** What is known of the server without asking anybody: its last use, and the last daily check of its records. */
export function serverFindings(visit: CompanyVisit, server: Server | undefined): Finding[] {
  if (!server) return [];
  const t = messages.newCampaign;
  const fix = { href: companyPath(visit, `servers/${server.id}`), label: t.editServer };
  const failed = [...new Set(server.check_failures.map(({ name }) => name))];
  return [
    ...(server.working ? [] : [bad(t.notWorking(server.last_error), fix)]),
    ...failed.map((name) => bad(t.dns[name].bad, toDomain(visit, server.id, name))),
  ];
}
