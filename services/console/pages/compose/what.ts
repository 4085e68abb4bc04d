/** Second step: a saved template or a text written for this campaign, optionally as an A/B test. */
import { invalid, isServiceError } from "../../../lib/errors.ts";
import { isUuid } from "../../../lib/ids.ts";
import { htmlOfTyped, typedTextOf } from "../../../lib/made-html/typed-text.ts";
import { type Errors, orAgain } from "../../form-errors.ts";
import { messages } from "../../messages.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, type Outcome } from "../../request.ts";
import { variablesFor } from "../template-editor.ts";
import {
  afterSaving,
  type Body,
  contentIn,
  type Draft,
  draftPath,
  hasDesign,
  hasText,
  isObject,
  isToList,
  ofDraft,
  pressedButton,
  saveDraft,
  stepsOf,
  textIn,
  withoutUnset,
} from "./draft.ts";
import {
  contradicts,
  holdsOwn,
  holdsVersions,
  isFinal,
  MAX_ROWS,
  promoted,
  rowsAskedFor,
  rowsIn,
  variantsOf,
  WRITTEN,
  winnerIn,
} from "./variants.ts";

/** Maximum templates to load, because each comes with its body. */
const MAX_TEMPLATES = 50;

interface Choice {
  id: string;
  name: string;
  subject: string;
}

/** Loads the newest templates and the chosen one. */
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

/** Replaces other products' placeholders with ours and repairs links. */
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
  const texts = textsOf((field) => textIn(contentIn(body), field));
  const converted = hasText(body) ? await convertedOf(visit, texts) : texts;
  const isOwn = visit.form.content === "own" || hasText(body) || (offered.templates.length === 0 && find === "");
  const rows = rowsIn(body, rowsAskedFor(visit.form));
  const chosen = textIn(body, "template_id");
  return {
    view: "new-campaign-what",
    title: messages.newCampaign.titles.what,
    values: {
      steps: stepsOf(visit, draft.id, "what"),
      here,
      ...offered,
      find,
      chosen,
      isOwn,
      usualSubject: isOwn ? texts.subject : (offered.templates.find(({ id }) => id === chosen)?.subject ?? ""),
      isToList: isToList(body),
      texts: { ...texts, body: typedTextOf(texts.body) },
      hasDesign: hasDesign(body),
      visual: draftPath(visit, draft.id, "visual"),
      versions: draftPath(visit, draft.id, "versions"),
      isConvertible: TEXTS.some((field) => texts[field] !== converted[field]),
      isTesting: body.variants !== undefined || body.winner !== undefined,
      rows,
      mayAdd: rows.length < MAX_ROWS,
      winner: winnerIn(body),
      attachments: Array.isArray(body.attachment_ids) ? body.attachment_ids.length : 0,
      errors,
      isSaved: pressedButton(visit) === "autosave",
      isHeld: holdsOwn(visit.form, body) || holdsVersions(visit.form, body),
      variables: pressedButton(visit) === "autosave" ? [] : await variablesFor(visit),
      savedTemplate: pressedButton(visit) === "template" && Object.keys(errors).length === 0 ? draft.name : null,
      editPath: isUuid(chosen) ? companyPath(visit, `templates/${chosen}`) : null,
    },
  };
}

export const whatPage = ofDraft((visit, draft) => show(visit, draft));

const orNone = (text: string): string | undefined => (text.trim() === "" ? undefined : text);

/** Content of the form; typed plain text is converted to HTML. */
const contentOf = ({ form }: CompanyVisit, { inline_css, design }: Body): Body =>
  withoutUnset({
    subject: orNone(form.subject ?? ""),
    preheader: orNone(form.preheader ?? ""),
    ...(isObject(design) && form.do !== "write" ? { design } : { body: orNone(htmlOfTyped(form.body ?? "")) }),
    text_body: orNone(form.text_body ?? ""),
    inline_css,
  });

/** Returns the changes of the form: written content replaces a template, and the other way round. */
function changesOf(visit: CompanyVisit, body: Body): Body {
  const { form } = visit;
  const written = contentIn(body);
  const versions = isToList(body) ? variantsOf(form, body) : {};
  if (holdsOwn(form, body)) return versions;
  const none = { ...Object.fromEntries(Object.keys(written).map((field) => [field, undefined])), content: undefined };
  const source =
    form.content === "own"
      ? { template_id: undefined, content: contentOf(visit, written) }
      : { template_id: orNone(form.template_id ?? "") };
  return promoted(form, { ...none, ...versions, ...source });
}

/**
 * The version whose button "Open visual editor" was pressed, and the form with that version as written here. The
 * test is switched on if a version is designed, added or typed in.
 */
function designedVersion(form: Record<string, string>, body: Body): { version?: string; form: Record<string, string> } {
  const [, version] = /^design\.(\d)$/.exec(form.do ?? "") ?? [];
  if (version !== undefined) {
    return { version, form: { ...form, ab: "on", [`variant.${version}.template_id`]: WRITTEN } };
  }
  return { form: form.do === "add" || contradicts(form, body) ? { ...form, ab: "on" } : form };
}

/** Saves a copy of the text as a template named like the campaign. Throws the errors of saving a template. */
async function saveAsTemplate(visit: CompanyVisit, { name, body }: Draft): Promise<void> {
  const { subject = "", ...content } = contentIn(body);
  await callIn(visit, "renderer.createTemplate", { name, subject: `${subject}`, ...content });
}

export const saveWhat = ofDraft(async (visit, draft): Promise<Outcome | Answer> => {
  let saved = draft;
  return orAgain(
    async () => {
      // Browsers submit line breaks as CRLF, scripts as LF.
      const typed = Object.entries(visit.form).map(([name, text]) => [name, text.replaceAll("\r\n", "\n")] as const);
      const { form, version } = designedVersion(Object.fromEntries(typed), draft.body);
      const converted =
        form.do === "convert"
          ? await convertedOf(
              visit,
              textsOf((field) => (field === "body" ? htmlOfTyped(form.body ?? "") : (form[field] ?? ""))),
            )
          : {};
      saved = await saveDraft(visit, draft, changesOf({ ...visit, form: { ...form, ...converted } }, draft.body));
      if (form.do === "design") return { goTo: draftPath(visit, saved.id, "starters") };
      if (version !== undefined) return { goTo: draftPath(visit, saved.id, `versions/${version}/starters`) };
      if (form.do === "template") await saveAsTemplate(visit, saved);
      if (isFinal(form) && contradicts(visit.form, draft.body)) {
        throw invalid({ variants: [messages.newCampaign.abWasOff] });
      }
      return afterSaving(visit, saved, "what", (now, errors) => show(visit, now, errors));
    },
    (errors) => show(visit, saved, errors),
  );
});
