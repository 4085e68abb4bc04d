/** Third step: mail server, sender, and UTM tags of links. */
import type { ReturnsOf } from "../../../contracts.ts";
import { type Errors, orAgain } from "../../form-errors.ts";
import { messages } from "../../messages.ts";
import { type Answer, type CompanyVisit, callIn } from "../../request.ts";
import {
  afterSaving,
  type Body,
  type Draft,
  draftPath,
  isObject,
  ofDraft,
  pressedButton,
  saveDraft,
  stepsOf,
  textIn,
} from "./draft.ts";

const ALL = { page_size: 100 };
export const TAGS = ["source", "medium", "campaign", "term", "content"] as const;

/** Values by tag name; empty if unset. */
export function tagsIn({ utm }: Body): Record<(typeof TAGS)[number], string> {
  const given = isObject(utm) ? utm : {};
  return Object.fromEntries(TAGS.map((tag) => [tag, textIn(given, tag)])) as Record<(typeof TAGS)[number], string>;
}

/** The default server, or the only one. */
function usualOf(servers: ReturnsOf<"smtp-sender.listConfigs">["results"]): string | undefined {
  return servers.find(({ is_default }) => is_default)?.id ?? (servers.length === 1 ? servers[0]!.id : undefined);
}

export const usualServer = async (visit: CompanyVisit): Promise<string | undefined> =>
  usualOf((await callIn(visit, "smtp-sender.listConfigs", ALL)).results);

async function show(visit: CompanyVisit, draft: Draft, errors: Errors = {}): Promise<Answer> {
  const { body } = draft;
  const [servers, company] = await Promise.all([
    callIn(visit, "smtp-sender.listConfigs", ALL),
    callIn(visit, "accounts.getCompany", { id: visit.company.id }),
  ]);
  return {
    view: "new-campaign-from",
    title: messages.newCampaign.titles.from,
    values: {
      steps: stepsOf(visit, draft.id, "from"),
      here: draftPath(visit, draft.id, "from"),
      servers: servers.results,
      chosen: textIn(body, "smtp_config_id") || usualOf(servers.results),
      tags: TAGS,
      typed: tagsIn(body),
      trackingDomain: company.tracking_domain_status === "active" ? company.tracking_domain : null,
      tracks: company.tracking_enabled,
      errors,
      isSaved: pressedButton(visit) === "autosave",
    },
  };
}

export const fromPage = ofDraft((visit, draft) => show(visit, draft));

function changesOf({ form }: CompanyVisit): Body {
  const tags = TAGS.map((tag) => [tag, (form[`utm.${tag}`] ?? "").trim()] as const).filter(([, value]) => value !== "");
  return {
    smtp_config_id: form.smtp_config_id || undefined,
    utm: tags.length > 0 ? Object.fromEntries(tags) : undefined,
  };
}

export const saveFrom = ofDraft((visit, draft) => {
  let saved = draft;
  return orAgain(
    async () => {
      saved = await saveDraft(visit, draft, changesOf(visit));
      return afterSaving(visit, saved, "from", (now, errors) => show(visit, now, errors));
    },
    (errors) => show(visit, saved, errors),
  );
});
