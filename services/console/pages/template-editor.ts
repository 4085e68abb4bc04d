/** Template editor: rendering, and saving without overwriting a change of another person. */
import type { ReturnsOf } from "../../contracts.ts";
import { isServiceError } from "../../lib/errors.ts";
import { requirePermission } from "../../permissions.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { VIEWS } from "../mail-look.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";
import { offeredImage } from "./media.ts";
import { contentOf, convertedOf, isConvertible, problemsOf, readerOf, type Typed, typedOf } from "./template-form.ts";
import { type Findings, findingsOf } from "./template-preview.ts";
import { templatesPath } from "./templates.ts";

type Template = ReturnsOf<"renderer.getTemplate">;

/** Number of newest subscribers offered as preview readers. */
const OFFERED_READERS = 20;
const OFFERED_IMAGES = 24;
/** Names that a template tag can contain; files and the API may use others. */
const IS_VARIABLE = /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u;

const OF_SERVICE = [
  "first_name",
  "last_name",
  "email",
  "unsubscribe_url",
  "preferences_url",
  "view_in_browser_url",
  "company.name",
  "company.footer_text",
].map((name) => `[[${name}]]`);
const PATTERNS = [
  "[[first_name|default:there]]",
  "[[#if city]]Near you: [[city]][[#else]]All cities[[/if]]",
  "[[#each items]]<li>[[this]]</li>[[/each]]",
  '<a href="[[unsubscribe_url]]">Unsubscribe</a>',
];

async function attributesFor(visit: CompanyVisit): Promise<string[]> {
  const { names } = await callIn(visit, "subscribers.listAttributes", {});
  return names.filter((name) => IS_VARIABLE.test(name)).map((name) => `[[${name}]]`);
}

/** Variables for the code editor. */
export const variablesFor = async (visit: CompanyVisit): Promise<string[]> => [
  ...OF_SERVICE,
  ...(await attributesFor(visit)),
];

export async function offers(visit: CompanyVisit) {
  const [{ results: people }, attributes, { results: files }] = await Promise.all([
    callIn(visit, "subscribers.list", { page_size: OFFERED_READERS }),
    attributesFor(visit),
    callIn(visit, "campaigns.listMedia", { page_size: OFFERED_IMAGES }),
  ]);
  return {
    readers: people.map(({ email }) => email),
    attributes,
    images: files.filter(({ content_type }) => content_type.startsWith("image/")).map(offeredImage),
    ofService: OF_SERVICE,
    patterns: PATTERNS,
  };
}

/** Returns who saved the template after this person read it; undefined if nobody did. */
export async function conflictOf(visit: CompanyVisit, template: Template, seen = visit.form.seen) {
  if (!seen || template.updated_at <= seen) return undefined;
  const [newest] = await callIn(visit, "renderer.listVersions", { id: template.id });
  const who = newest?.created_by?.name ?? messages.templates.somebody;
  return { who, at: template.updated_at, theirs: templatesPath(visit, `${template.id}/versions/${newest!.version}`) };
}

/** Findings of the saved template, if the page was requested after a save. */
async function savedFindings(visit: CompanyVisit, template: Template): Promise<Findings | undefined> {
  if (visit.query.checked === undefined) return undefined;
  try {
    const { variables } = await readerOf(visit);
    const shown = await callIn(visit, "renderer.preview", { id: template.id, variables });
    return findingsOf(shown, await isConvertible(visit, typedFrom(template)));
  } catch (error) {
    // The template was saved; a page that only reported a busy preview would hide that.
    if (!isServiceError(error)) throw error;
    return undefined;
  }
}

const typedFrom = (template: Template): Typed => ({
  ...template,
  ...(typeof template.markdown === "string" ? { body: template.markdown, template_mode: "markdown" } : {}),
  preheader: template.preheader ?? "",
  text_body: template.text_body ?? "",
});

const shownModes = ({ template_mode }: Typed) => [
  ...(["markdown", "basic", "mjml"] as const),
  ...(template_mode === "visual" ? (["visual"] as const) : []),
];

function common(visit: CompanyVisit, typed: Typed, errors: Errors) {
  return {
    typed,
    errors,
    problems: problemsOf({ body: errors.body ?? errors.markdown ?? [], text_body: errors.text_body ?? [] }, typed),
    modes: shownModes(typed),
    types: ["marketing", "transactional"],
    views: VIEWS,
    root: templatesPath(visit),
    media: companyPath(visit, "media"),
  };
}

async function showNew(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  requirePermission("renderer.createTemplate", visit.company);
  const typed = typedOf({ ...(visit.query.mode ? { template_mode: visit.query.mode } : {}), ...visit.form });
  const values = {
    ...common(visit, typed, errors),
    ...(await offers(visit)),
    here: templatesPath(visit, "new"),
    isUnsaved: visit.form.name !== undefined,
    frame: templatesPath(visit, "frame"),
  };
  return { view: "template-editor", title: messages.templates.newTitle, values };
}

async function showOne(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const template = await callIn(visit, "renderer.getTemplate", { id: visit.params.id! });
  const here = templatesPath(visit, template.id);
  const isRefused = visit.form.name !== undefined;
  const typed = isRefused ? typedOf(visit.form) : typedFrom(template);
  const values = { ...common(visit, typed, errors), template, here, frame: `${here}/frame` };
  if (!may(visit, "renderer.updateTemplate")) return { view: "template", title: template.name, values };
  const [offered, conflict, findings] = await Promise.all([
    offers(visit),
    conflictOf(visit, template),
    isRefused ? undefined : savedFindings(visit, template),
  ]);
  const seen = isRefused ? visit.form.seen : template.updated_at;
  const given = { ...values, ...offered, conflict, findings, seen, isUnsaved: isRefused };
  return { view: "template-editor", title: template.name, values: given };
}

/** A design opens in the visual editor; `?mode=html` shows its HTML. */
export async function templatePage(visit: CompanyVisit): Promise<Answer> {
  const id = visit.params.id!;
  if (visit.query.mode !== "html" && may(visit, "renderer.updateTemplate")) {
    const { design } = await callIn(visit, "renderer.getTemplate", { id });
    if (design) return { goTo: templatesPath(visit, `${id}/visual`) };
  }
  return showOne(visit);
}
export const newTemplatePage = (visit: CompanyVisit): Promise<Answer> => showNew(visit);

/** Shows the form with converted content, to be checked and saved. */
async function showConverted(visit: CompanyVisit, show: (visit: CompanyVisit) => Promise<Answer>): Promise<Answer> {
  const converted = await convertedOf(visit, typedOf(visit.form));
  const page = await show({ ...visit, form: { ...visit.form, ...converted } });
  return { ...page, values: { ...("values" in page ? page.values : {}), isConverted: true } } as Answer;
}

const saved = (visit: CompanyVisit, id: string): Answer => ({
  goTo: templatesPath(visit, `${id}?checked=1`),
  notice: "saved",
});

export const makeTemplate = async (visit: CompanyVisit): Promise<Outcome | Answer> => {
  if (visit.form.convert !== undefined) return showConverted(visit, showNew);
  return orAgain(
    async () => saved(visit, (await callIn(visit, "renderer.createTemplate", contentOf(typedOf(visit.form)))).id),
    (errors) => showNew(visit, errors),
  );
};

/** Shows the typed text as a new template if somebody deleted this one. */
async function orAsNew(visit: CompanyVisit, work: () => Promise<Outcome | Answer>): Promise<Outcome | Answer> {
  try {
    return await work();
  } catch (error) {
    if (!isServiceError(error, "NOT_FOUND")) throw error;
    const page = await showNew(visit);
    return { ...page, status: 404, values: { ...("values" in page ? page.values : {}), isGone: true } } as Answer;
  }
}

const save = async (visit: CompanyVisit): Promise<Outcome | Answer> => {
  if (visit.form.convert !== undefined) return showConverted(visit, showOne);
  return orAgain(
    async () => {
      const { seen, overwrite } = visit.form;
      const since = overwrite || seen;
      const { id } = await callIn(visit, "renderer.updateTemplate", {
        id: visit.params.id!,
        ...contentOf(typedOf(visit.form)),
        ...(since ? { unchanged_since: since } : {}),
      });
      return saved(visit, id);
    },
    (errors) => showOne(visit, errors),
  );
};

export const saveTemplate = (visit: CompanyVisit): Promise<Outcome | Answer> => orAsNew(visit, () => save(visit));
