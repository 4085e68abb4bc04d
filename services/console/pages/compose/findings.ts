/** Findings of a campaign's review: a sentence for the author, and a link to the page with the fix. */
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

/** Link to the page where the mail's text is edited. */
export function toContent(visit: CompanyVisit, { id, body }: Draft): Fix {
  const template = textIn(body, "template_id");
  const href = isUuid(template) ? companyPath(visit, `templates/${template}`) : draftPath(visit, id, "what");
  return { href, label: messages.newCampaign.editContent };
}

type Check = ReturnsOf<"smtp-sender.deliverability">["checks"][number]["name"];

/** Link to the page that explains how to fix a failed DNS check. */
export function toDomain(visit: CompanyVisit, server: string, name: Check): Fix {
  const t = messages.newCampaign;
  if (name === "bounce_address") return { href: companyPath(visit, `servers/${server}`), label: t.editServer };
  return { href: companyPath(visit, name === "links" ? "domains" : `domains/${server}`), label: t.setUpDomain };
}

/** Start of the advice about template syntax in a warning. */
const HOW_TO = / Use \[\[.*$/;
const NO_UNSUBSCRIBE = /^No visible unsubscribe link/;

/** Content warnings, for authors who may edit templates. */
export const contentFindings = (visit: CompanyVisit, draft: Draft, warnings: readonly string[]): Finding[] =>
  warnings.map((warning) => {
    const t = messages.newCampaign;
    if (NO_UNSUBSCRIBE.test(warning)) return good(t.unsubscribeAdded);
    const sentence = HOW_TO.test(warning) ? `${warning.replace(HOW_TO, "")} ${t.addFallback}` : warning;
    return bad(sentence, toContent(visit, draft));
  });

type Server = ReturnsOf<"smtp-sender.getConfig">;

/** Findings about the server from stored state: its last use and the last daily DNS check. */
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
