/**
 * Second step: a saved template, or a text that is written here, and an A/B test of both. To a list the API sends templates
 * alone, so that a text becomes one when the step is done; until then it stands in the draft.
 */
import { isServiceError } from "../../../lib/errors.ts";
import { isUuid } from "../../../lib/ids.ts";
import { htmlOfTyped } from "../../../lib/made-html/typed-text.ts";
import { type Errors, orAgain } from "../../form-errors.ts";
import { messages } from "../../messages.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, type Outcome } from "../../request.ts";
import {
  afterSaving,
  askedFor,
  type Body,
  type Draft,
  draftPath,
  hasText,
  isToList,
  ofDraft,
  saveDraft,
  stepsOf,
  textIn,
} from "./draft.ts";
import { rowsIn, variantsOf, winnerIn } from "./variants.ts";

/** Templates come with their bodies. */
const MAX_TEMPLATES = 50;

interface Choice {
  id: string;
  name: string;
  subject: string;
}

/** The newest, and the one that is chosen however old it is. */
async function templates(visit: CompanyVisit, chosen: string, find: string) {
  const asked = { page_size: MAX_TEMPLATES, ordering: "-updated_at", ...(find ? { search: find } : {}) };
  const { count, results } = await callIn(visit, "renderer.listTemplates", asked);
  const listed: Choice[] = results.map(({ id, name, subject }) => ({ id, name, subject }));
  const isListed = !isUuid(chosen) || listed.some(({ id }) => id === chosen);
  const further = isListed ? undefined : await templateOf(visit, chosen);
  return { templates: further ? [further, ...listed] : listed, hasMore: count > MAX_TEMPLATES || find !== "" };
}

async function templateOf(visit: CompanyVisit, id: string): Promise<Choice | undefined> {
  try {
    const { name, subject } = await callIn(visit, "renderer.getTemplate", { id });
    return { id, name, subject };
  } catch (error) {
    if (!isServiceError(error, "NOT_FOUND")) throw error;
    return undefined;
  }
}

const TEXTS = ["subject", "preheader", "body", "text_body"] as const;

const textsOf = (read: (field: (typeof TEXTS)[number]) => string) => ({
  subject: read("subject"),
  preheader: read("preheader"),
  body: read("body"),
  text_body: read("text_body"),
});

/** The texts with placeholders of other products as ours, and links as they were meant. */
async function convertedOf(visit: CompanyVisit, texts: ReturnType<typeof textsOf>) {
  const { template_mode: _, ...converted } = await callIn(visit, "renderer.convertContent", {
    ...texts,
    template_mode: "basic",
  });
  return converted;
}

async function show(visit: CompanyVisit, draft: Draft, errors: Errors = {}): Promise<Answer> {
  const { body } = draft;
  const find = visit.form.find ?? "";
  const offered = await templates(visit, textIn(body, "template_id"), find);
  const here = draftPath(visit, draft.id, "what");
  const texts = textsOf((field) => textIn(body, field));
  const converted = hasText(body) ? await convertedOf(visit, texts) : texts;
  return {
    view: "new-campaign-what",
    title: messages.newCampaign.titles.what,
    values: {
      steps: stepsOf(visit, draft.id, "what"),
      here,
      ...offered,
      find,
      chosen: textIn(body, "template_id"),
      isOwn: hasText(body) || (offered.templates.length === 0 && find === ""),
      isToList: isToList(body),
      texts,
      isConvertible: TEXTS.some((field) => texts[field] !== converted[field]),
      isTesting: body.variants !== undefined || body.winner !== undefined,
      rows: rowsIn(body),
      winner: winnerIn(body),
      attachments: Array.isArray(body.attachment_ids) ? body.attachment_ids.length : 0,
      errors,
      isSaved: askedFor(visit) === "autosave",
      editPath: isUuid(textIn(body, "template_id"))
        ? companyPath(visit, `templates/${textIn(body, "template_id")}`)
        : null,
    },
  };
}

export const whatPage = ofDraft((visit, draft) => show(visit, draft));

const NO_TEXT: Body = { subject: undefined, preheader: undefined, body: undefined, text_body: undefined };

const orNone = (text: string): string | undefined => (text.trim() === "" ? undefined : text);

/** The changes that the form makes. An own text takes the template's place, and the other way round. */
function changesOf({ form }: CompanyVisit, body: Body): Body {
  const tested = isToList(body) ? variantsOf(form) : {};
  if (form.content !== "own")
    return { ...tested, ...NO_TEXT, inline_css: undefined, template_id: orNone(form.template_id ?? "") };
  const [subject, preheader, text_body] = [form.subject ?? "", form.preheader ?? "", form.text_body ?? ""];
  return {
    ...tested,
    template_id: undefined,
    subject: orNone(subject),
    preheader: orNone(preheader),
    text_body: orNone(text_body),
    body: orNone(htmlOfTyped(form.body ?? "")),
  };
}

/** Saves the text as a template named like the campaign. Throws what saving a template throws. */
async function asTemplate(visit: CompanyVisit, draft: Draft): Promise<Draft> {
  const { body } = draft;
  const [preheader, textBody] = [textIn(body, "preheader"), textIn(body, "text_body")];
  const { id } = await callIn(visit, "renderer.createTemplate", {
    name: draft.name,
    subject: textIn(body, "subject"),
    body: textIn(body, "body"),
    ...(preheader ? { preheader } : {}),
    ...(textBody ? { text_body: textBody } : {}),
    ...(typeof body.inline_css === "boolean" ? { inline_css: body.inline_css } : {}),
  });
  return saveDraft(visit, draft, { ...NO_TEXT, inline_css: undefined, template_id: id });
}

const REQUIRED = ["This field is required."];

/** A template may have an empty body; a mail that somebody writes here has one. */
function missing(body: Body): Errors {
  return Object.fromEntries(
    (["subject", "body"] as const)
      .filter((field) => textIn(body, field).trim() === "")
      .map((field) => [field, REQUIRED]),
  );
}

export const saveWhat = ofDraft(async (visit, draft): Promise<Outcome | Answer> => {
  let saved = draft;
  return orAgain(
    async () => {
      const { form } = visit;
      const converted =
        form.do === "convert"
          ? await convertedOf(
              visit,
              textsOf((field) => form[field] ?? ""),
            )
          : {};
      saved = await saveDraft(visit, draft, changesOf({ ...visit, form: { ...form, ...converted } }, draft.body));
      const isOwn = visit.form.content === "own";
      if (askedFor(visit) === "next" && isOwn && isToList(saved.body)) {
        const errors = missing(saved.body);
        if (Object.keys(errors).length > 0) return { ...(await show(visit, saved, errors)), status: 400 };
        saved = await asTemplate(visit, saved);
      }
      return afterSaving(visit, saved, "what", (now, errors) => show(visit, now, errors));
    },
    (errors) => show(visit, saved, errors),
  );
});
