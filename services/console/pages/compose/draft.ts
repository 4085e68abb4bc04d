/**
 * Drafts of campaigns: each step saves its fields to a draft of the API, so that closing the window loses nothing, and
 * sending sends the draft.
 */
import { isDeepStrictEqual } from "node:util";
import type { ReturnsOf } from "../../../contracts.ts";
import { isServiceError } from "../../../lib/errors.ts";
import { isUuid } from "../../../lib/ids.ts";
import { requirePermission } from "../../../permissions.ts";
import type { Errors } from "../../form-errors.ts";
import { messages } from "../../messages.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, type Outcome } from "../../request.ts";

export type Draft = ReturnsOf<"campaigns.getDraft">;
export type Body = Draft["body"];
type Kind = Draft["kind"];

/** Steps in order; each saves its own fields. */
export const STEPS = ["whom", "what", "from", "when"] as const;
export type Step = (typeof STEPS)[number];

/** Fields of a written content: in `content` of a draft to a list, at the top of one to addresses. */
const CONTENT = ["subject", "body", "design", "preheader", "text_body", "inline_css"];

const FIELDS: Record<Step, readonly string[]> = {
  whom: ["name", "list_id", "segment_id", "receivers", "is_transactional"],
  what: ["template_id", "content", ...CONTENT, "variants", "winner", "attachment_ids"],
  from: ["smtp_config_id", "utm"],
  when: ["scheduled_for", "timezone"],
};

/** Fields that each kind of send does not accept. */
const NOT_IN: Record<Kind, readonly string[]> = {
  "to-list": ["receivers"],
  "to-receivers": ["list_id", "segment_id", "variants", "winner", "timezone"],
  custom: ["list_id", "segment_id", "variants", "winner", "timezone", "template_id"],
};

export const textIn = (body: Body, field: string): string => {
  const value = body[field];
  return typeof value === "string" ? value : "";
};

export const isObject = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Content written in the draft or in one of its variants, instead of a template. */
export const contentIn = (body: Body): Body =>
  isObject(body.content)
    ? body.content
    : Object.fromEntries(Object.entries(body).filter(([field]) => CONTENT.includes(field)));

export const hasDesign = (body: Body): boolean => isObject(contentIn(body).design);

export const hasText = (body: Body): boolean =>
  hasDesign(body) || ["subject", "body"].some((field) => textIn(contentIn(body), field) !== "");

export const letterOf = (n: number): string => String.fromCharCode(65 + n);

export const receiversIn = ({ receivers }: Body): Body[] =>
  Array.isArray(receivers) ? receivers.filter(isObject) : [];

export const isToList = (body: Body): boolean => textIn(body, "list_id") !== "" || textIn(body, "segment_id") !== "";

export function kindOf(body: Body): Kind {
  if (isToList(body) || !Array.isArray(body.receivers)) return "to-list";
  return textIn(body, "template_id") === "" && (isObject(body.content) || hasText(body)) ? "custom" : "to-receivers";
}

export const withoutUnset = (fields: Body): Body =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/**
 * Applies changes to a body (undefined removes a field). Drops fields that its kind of send does not accept, and moves
 * the content to where that kind has it. Pure.
 */
export function changed(body: Body, changes: Body): { kind: Kind; body: Body } {
  const all = withoutUnset({ ...body, ...changes });
  const kind = kindOf(all);
  const isDropped = (field: string) => field === "content" || CONTENT.includes(field) || NOT_IN[kind].includes(field);
  const others = Object.fromEntries(Object.entries(all).filter(([field]) => !isDropped(field)));
  const content = contentIn(all);
  if (kind === "custom") return { kind, body: { ...others, ...content } };
  const isWritten = isObject(all.content) || Object.keys(content).length > 0;
  return { kind, body: kind === "to-list" && isWritten ? { ...others, content } : others };
}

/** The draft was changed after it was read for this request. */
class ChangedSince extends Error {}

/**
 * A save without changes writes nothing: an automatic one that arrives late leaves the draft as it was reviewed.
 * Throws an error for `ofDraft` if the draft was changed since it was read, so that no other save is lost.
 */
export async function saveDraft(visit: CompanyVisit, draft: Draft, changes: Body, name = draft.name): Promise<Draft> {
  const { id, ...before } = draft;
  const saved = { name, ...changed(draft.body, changes) };
  if (isDeepStrictEqual({ ...before, ...saved }, before)) return draft;
  try {
    return await callIn(visit, "campaigns.updateDraft", { id, ...saved, unchanged_since: draft.updated_at });
  } catch (error) {
    throw isServiceError(error, "CONFLICT") ? new ChangedSince(error.message, { cause: error }) : error;
  }
}

export const draftPath = (visit: CompanyVisit, id: string, rest = ""): string =>
  companyPath(visit, `campaigns/drafts/${id}${rest && `/${rest}`}`);

export const draftsPath = (visit: CompanyVisit): string => companyPath(visit, "campaigns/drafts");

/** Returns the errors of one step. Errors of fields that no step has belong to the first step. */
export function errorsOf(step: Step, errors: Errors): Errors {
  const isOurs = (field: string) => FIELDS[step].includes(field);
  const isNobodys = (field: string) => !STEPS.some((one) => FIELDS[one].includes(field));
  const ours = Object.entries(errors).filter(([field]) => isOurs(field));
  const nobodys = Object.entries(errors)
    .filter(([field]) => step === STEPS[0] && isNobodys(field))
    .flatMap(([field, sentences]) => sentences.map((sentence) => `${field}: ${sentence}`));
  return { ...Object.fromEntries(ours), ...(nobodys.length > 0 ? { "": nobodys } : {}) };
}

const REFERENCES = ["list_id", "segment_id", "template_id", "smtp_config_id"];
/** API error that contains the id of a deleted object. */
const GONE = /^Invalid pk/;

/** Prefix that names the content field of an error. */
const OF_CONTENT = /^(subject|body|design|preheader|text_body): /;
const OF_VARIANT = /^Item at index (\d+): (?:content: )?/;

/** Assigns an API error to a form field and removes ids and indexes from its text. */
function inPlainWords(field: string, sentence: string): [string, string] {
  const t = messages.newCampaign;
  if (REFERENCES.includes(field)) return [field, GONE.test(sentence) ? t.isGone : sentence];
  const of = field === "content" ? OF_CONTENT.exec(sentence)?.[1] : undefined;
  if (of) return [of, sentence.replace(OF_CONTENT, "")];
  return [field, sentence.replace(OF_VARIANT, (_, n: string) => `${t.version(letterOf(Number(n)))}: `)];
}

const byField = (errors: Iterable<readonly [field: string, sentence: string]>): Errors =>
  Object.fromEntries(
    [...Map.groupBy(errors, ([field]) => field)].map(([field, all]) => [field, all.map(([, sentence]) => sentence)]),
  );

/** Whether the versions of a test with a winner leave nobody to whom the winner could be sent. */
function leavesNobody({ variants, winner }: Body): boolean {
  const shares = Array.isArray(variants) ? variants.map((one) => Number(isObject(one) ? one.percent : 0)) : [];
  return isObject(winner) && shares.reduce((sum, share) => sum + Math.round(share * 100), 0) === 100_00;
}

/** Returns the errors with which sending would be refused, and those that only the console knows. */
export async function checkErrors(visit: CompanyVisit, { id, body }: Draft): Promise<Errors> {
  const { errors } = await callIn(visit, "campaigns.checkDraft", { id });
  const own: [string, string][] = leavesNobody(body) ? [["winner", messages.newCampaign.nobodyForWinner]] : [];
  const given = Object.entries(errors);
  return byField([...given.flatMap(([field, all]) => all.map((one) => inPlainWords(field, one))), ...own]);
}

/** Errors of a version's own content, by its fields. */
export function errorsOfVersion(n: number, { variants = [] }: Errors): Errors {
  const start = `${messages.newCampaign.version(letterOf(n))}: `;
  const ours = variants.filter((sentence) => sentence.startsWith(start));
  return byField(ours.map((sentence) => inPlainWords("content", sentence.slice(start.length))));
}

/** Returns undefined if the object does not exist. */
export async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!isServiceError(error, "NOT_FOUND")) throw error;
    return undefined;
  }
}

type Show = (visit: CompanyVisit, draft: Draft) => Promise<Outcome | Answer>;

export const draftGone = (visit: CompanyVisit): Answer => ({
  view: "draft-gone",
  title: messages.newCampaign.gone,
  status: 404,
  values: { drafts: draftsPath(visit), campaigns: companyPath(visit, "campaigns") },
});

/** Maximum attempts. Each retry means that a concurrent save succeeded. */
const MAX_RUNS = 4;

/**
 * Wraps a page of one draft: 403 for people who may not change drafts, and a notice if the draft was sent or deleted.
 * Runs `show` again with the newest draft if `saveDraft` found it changed.
 */
export const ofDraft =
  (show: Show) =>
  async (visit: CompanyVisit): Promise<Outcome | Answer> => {
    requirePermission("campaigns.updateDraft", { role: visit.company.role });
    const { id = "" } = visit.params;
    if (!isUuid(id)) return draftGone(visit);
    for (let run = 1; ; run++) {
      try {
        return await show(visit, await callIn(visit, "campaigns.getDraft", { id }));
      } catch (error) {
        if (isServiceError(error, "NOT_FOUND")) return draftGone(visit);
        if (!(error instanceof ChangedSince)) throw error;
        if (run === MAX_RUNS) throw error.cause;
      }
    }
  };

/** Links of the steps, and which step is current. */
export function stepsOf(visit: CompanyVisit, id: string | undefined, current: Step | "check") {
  const t = messages.newCampaign.steps;
  return [...STEPS, "check" as const].map((step) => ({
    label: t[step],
    isCurrent: step === current,
    href: id === undefined ? null : draftPath(visit, id, step === "check" ? "" : step),
  }));
}

/** Value of the pressed button: save and continue, save and close, or an operation of the step. */
export const pressedButton = ({ form }: CompanyVisit): string => form.do ?? "next";

/** Path of the next step that needs something. */
export const nextPath = (visit: CompanyVisit, { id }: Draft, errors: Errors): string =>
  draftPath(
    visit,
    id,
    STEPS.find((step) => Object.keys(errorsOf(step, errors)).length > 0),
  );

/**
 * Answers a saved step: shows the next one that needs something, or the same one with the errors with which sending
 * would refuse it. An automatic save (`autosave`) reports no missing fields.
 */
export async function afterSaving(
  visit: CompanyVisit,
  draft: Draft,
  step: Step,
  show: (draft: Draft, errors: Errors) => Promise<Answer>,
): Promise<Answer> {
  const asked = pressedButton(visit);
  if (asked === "later") return { goTo: draftsPath(visit), notice: "saved" };
  if (asked !== "next") return show(draft, {});
  const found = await checkErrors(visit, draft);
  const errors = errorsOf(step, found);
  if (Object.keys(errors).length > 0) {
    const page = await show(draft, errors);
    return "view" in page ? { ...page, status: 400 } : page;
  }
  return { goTo: nextPath(visit, draft, found) };
}
