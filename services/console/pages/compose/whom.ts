/**
 * First step: the campaign's name, and the list, segment or addresses that get it. Saving it for the first time creates
 * the draft.
 */

import { isUuid } from "../../../lib/ids.ts";
import { requirePermission } from "../../../permissions.ts";
import { type Errors, orAgain } from "../../form-errors.ts";
import { messages } from "../../messages.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, type Outcome } from "../../request.ts";
import { audienceOf, choiceIn, fieldsOf, MAX_CHOICES, segmentOf } from "./audience.ts";
import {
  afterSaving,
  type Body,
  changed,
  type Draft,
  draftPath,
  hasDesign,
  ofDraft,
  orNothing,
  pressedButton,
  receiversIn,
  saveDraft,
  stepsOf,
  withoutUnset,
} from "./draft.ts";
import { usualServer } from "./from.ts";
import { versionsOf } from "./variants.ts";

/**
 * Maximum addresses shown in the textarea; the API sends to no more (MAX_RECEIVERS). Saving the page drops further
 * ones.
 */
const MAX_ADDRESSES_SHOWN = 10_000;

interface Choice {
  value: string;
  label: string;
  size: number | null;
}

/** Lists and segments to choose from, always including the chosen one even if it is beyond the first MAX_CHOICES. */
async function loadChoices(visit: CompanyVisit, chosen: string, find: string) {
  const asked = { page_size: MAX_CHOICES, ordering: "name", ...(find ? { search: find } : {}) };
  const { list_id, segment_id } = fieldsOf(chosen);
  const [lists, segments, list, segment] = await Promise.all([
    callIn(visit, "subscribers.listLists", asked),
    callIn(visit, "subscribers.listSegments", asked),
    isUuid(list_id) ? orNothing(callIn(visit, "subscribers.getList", { id: list_id })) : undefined,
    isUuid(segment_id) ? orNothing(segmentOf(visit, segment_id)) : undefined,
  ]);
  const ofLists = [...lists.results, ...(list ? [list] : [])].map(
    ({ id, name, subscriber_count }): Choice => ({ value: `list:${id}`, label: name, size: subscriber_count }),
  );
  const ofSegments = [...segments.results, ...(segment ? [segment] : [])].map(
    ({ id, name }): Choice => ({ value: `segment:${id}`, label: name, size: null }),
  );
  const distinct = (all: Choice[]) => all.filter(({ value }, i) => all.findIndex((one) => one.value === value) === i);
  return {
    lists: distinct(ofLists),
    segments: distinct(ofSegments),
    hasMore: lists.count > MAX_CHOICES || segments.count > MAX_CHOICES || find !== "",
  };
}

interface ShowOptions {
  draft?: Draft | undefined;
  /** The draft's body with the current choice, saved or not. */
  body: Body;
  name: string;
  errors?: Errors;
  isCounted?: boolean;
}

async function show(
  visit: CompanyVisit,
  { draft, body, name, errors = {}, isCounted = false }: ShowOptions,
): Promise<Answer> {
  const chosen = choiceIn(body);
  const find = visit.form.find ?? "";
  const [offered, audience] = await Promise.all([
    loadChoices(visit, chosen, find),
    isCounted ? audienceOf(visit, body) : undefined,
  ]);
  return {
    view: "new-campaign-whom",
    title: messages.newCampaign.titles.whom,
    values: {
      steps: stepsOf(visit, draft?.id, "whom"),
      here: draft ? draftPath(visit, draft.id, "whom") : companyPath(visit, "campaigns/new"),
      name,
      chosen,
      ...offered,
      find,
      addresses: receiversIn(body)
        .slice(0, MAX_ADDRESSES_SHOWN)
        .map(({ email }) => `${email}`)
        .join("\n"),
      audience,
      isCounted,
      errors,
      isSaved: visit.form.do === "autosave",
      isHeld: draft !== undefined && holdsDesigns(visit, draft),
      listsPath: companyPath(visit, "lists"),
    },
  };
}

/** The body with the audience from the query string, which the page's audience count requests. */
const bodyFromQuery = ({ query }: CompanyVisit, body: Body): Body =>
  query.audience === undefined ? body : { ...body, ...fieldsOf(query.audience), receivers: undefined };

export const newCampaignPage = (visit: CompanyVisit): Promise<Answer> => {
  requirePermission("campaigns.createDraft", { role: visit.company.role });
  return show(visit, { body: bodyFromQuery(visit, {}), name: "", isCounted: visit.query.count !== undefined });
};

export const whomPage = ofDraft((visit, draft) =>
  show(visit, {
    draft,
    body: bodyFromQuery(visit, draft.body),
    name: draft.name,
    isCounted: visit.query.count !== undefined,
  }),
);

/**
 * Parses the typed addresses. An address that the draft already has keeps its variables and copies (set through the
 * API).
 */
function receiversOf(typed: string, had: Body[]): Body[] {
  const left = [...had];
  return typed
    .split(/[\s,;]+/)
    .filter((email) => email !== "")
    .map((email) => {
      const at = left.findIndex((one) => `${one.email}`.trim().toLowerCase() === email.toLowerCase());
      return at < 0 ? { email } : left.splice(at, 1)[0]!;
    });
}

function changesOf({ form }: CompanyVisit, had: Body): Body {
  const { audience = "", addresses = "" } = form;
  const receivers = audience === "addresses" ? receiversOf(addresses, receiversIn(had)) : undefined;
  return { ...fieldsOf(audience), receivers };
}

/** The name that was typed; later steps read it from the draft. */
const nameIn = ({ form }: CompanyVisit): string => (form.name ?? "").trim();

export const createDraft = (visit: CompanyVisit): Promise<Outcome | Answer> => {
  const { kind, body } = changed({}, changesOf(visit, {}));
  const again = (errors: Errors) => show(visit, { body, name: nameIn(visit), errors, isCounted: true });
  requirePermission("campaigns.createDraft", { role: visit.company.role });
  if (pressedButton(visit) === "count" || pressedButton(visit) === "find") return again({});
  return orAgain(async () => {
    const usual = withoutUnset({ smtp_config_id: await usualServer(visit) });
    const asked = { name: visit.form.name ?? "", kind, body: { ...body, ...usual } };
    const draft = await callIn(visit, "campaigns.createDraft", asked);
    return afterSaving(visit, draft, "whom", (made, errors) =>
      show(visit, { draft: made, body: made.body, name: made.name, errors, isCounted: true }),
    );
  }, again);
};

/** A draft with the template, to choose its recipients. */
export async function composeWithTemplate(visit: CompanyVisit): Promise<Answer> {
  requirePermission("campaigns.createDraft", { role: visit.company.role });
  const { id, name } = await callIn(visit, "renderer.getTemplate", { id: visit.params.id! });
  const body = withoutUnset({ template_id: id, smtp_config_id: await usualServer(visit) });
  const draft = await callIn(visit, "campaigns.createDraft", { name, kind: "to-list", body });
  return { goTo: draftPath(visit, draft.id, "whom") };
}

/** Whether an automatic save would delete designs: those of versions, which mail to typed addresses cannot have. */
const holdsDesigns = ({ form }: CompanyVisit, { body }: Draft): boolean =>
  form.do === "autosave" && form.audience === "addresses" && versionsOf(body).some(hasDesign);

export const saveWhom = ofDraft((visit, draft) => {
  const isHeld = holdsDesigns(visit, draft);
  const changes: Body = { ...(isHeld ? {} : changesOf(visit, draft.body)), name: undefined };
  const again = (errors: Errors) =>
    show(visit, { draft, body: { ...draft.body, ...changes }, name: nameIn(visit), errors, isCounted: true });
  if (pressedButton(visit) === "find") return again({});
  return orAgain(async () => {
    const isNamed = nameIn(visit) !== "" || pressedButton(visit) !== "autosave";
    const saved = await saveDraft(visit, draft, changes, isNamed ? (visit.form.name ?? "") : undefined);
    return afterSaving(visit, saved, "whom", (now, errors) =>
      show(visit, { draft: now, body: now.body, name: now.name, errors, isCounted: true }),
    );
  }, again);
});
