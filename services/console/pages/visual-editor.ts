/** The visual editor of a template: its page, its saves as JSON, and the preview of what is not saved yet. */

import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import type { Starter } from "../../lib/design/starters/build.ts";
import { isServiceError } from "../../lib/errors.ts";
import { requirePermission } from "../../permissions.ts";
import type { RawResponse } from "../contract.ts";
import { asJson } from "../json-answer.ts";
import { lookOf, sentencesPage, viewOf } from "../mail-look.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, requireMay } from "../request.ts";
import { timeOf } from "../times.ts";
import { isObject } from "./compose/draft.ts";
import { starterOf } from "./starters.ts";
import { conflictOf, offers } from "./template-editor.ts";
import { readerOf } from "./template-form.ts";
import { editorFrame } from "./template-preview.ts";
import { templatesPath } from "./templates.ts";
import { brandFor, fieldsFor, savedBlocksFor } from "./visual-offers.ts";

type Template = ReturnsOf<"renderer.getTemplate">;
type Content = ParamsOf<"renderer.createTemplate"> & { unchanged_since?: string };

const mailOf = (starter?: Starter) =>
  starter && {
    name: starter.name,
    subject: starter.subject,
    preheader: starter.preheader,
    template_type: starter.kind === "transactional" ? ("transactional" as const) : ("marketing" as const),
  };

const EMPTY = { name: "", subject: "", preheader: "", template_type: "marketing" } as const;

interface Edited {
  isCampaign: boolean;
  id: string | null;
  seen: string | null;
  mail: { name: string; subject: string; preheader: string; template_type: Template["template_type"] };
  design: Readonly<Record<string, unknown>> | Starter["design"] | null;
  paths: { root: string; close: string; html: string; make: string };
}

/** The editor of a template, or of a campaign's content. */
export async function editorPage(visit: CompanyVisit, title: string, edited: Edited): Promise<Answer> {
  const [offered, brand, fields, savedBlocks] = await Promise.all([
    offers(visit),
    brandFor(visit),
    fieldsFor(visit),
    savedBlocksFor(visit),
  ]);
  const t = messages.templates;
  const boot = {
    ...edited,
    brand,
    fields,
    readers: offered.readers,
    images: offered.images,
    savedBlocks,
    mayCompose: may(visit, "campaigns.createDraft"),
    maySaveBlocks: may(visit, "renderer.createSavedBlock"),
    testTo: may(visit, "campaigns.sendTest") ? visit.user.email : null,
    types: (["marketing", "transactional"] as const).map((value) => ({ value, label: t.kinds[value] })),
    paths: {
      ...edited.paths,
      preview: templatesPath(visit, "visual-preview"),
      check: templatesPath(visit, "visual-check"),
      test: templatesPath(visit, "visual-test"),
      savedBlocks: templatesPath(visit, "saved-blocks"),
      upload: templatesPath(visit, "media"),
      media: companyPath(visit, "media"),
    },
  };
  return { view: "visual-editor", title, values: { boot, html: edited.paths.html } };
}

async function show(visit: CompanyVisit, template?: Template, starter?: Starter): Promise<Answer> {
  const { name, subject, preheader, template_type } = template ?? { ...EMPTY, ...mailOf(starter) };
  const root = templatesPath(visit);
  return editorPage(visit, template?.name ?? messages.visual.newTitle, {
    isCampaign: false,
    id: template?.id ?? null,
    seen: template?.updated_at ?? null,
    mail: { name, subject, preheader: preheader ?? "", template_type },
    design: template?.design ?? starter?.design ?? null,
    paths: {
      root,
      close: root,
      html: templatesPath(visit, `${template?.id ?? "new"}?mode=html`),
      make: templatesPath(visit, "new/visual"),
    },
  });
}

export async function newVisualPage(visit: CompanyVisit): Promise<Answer> {
  requirePermission("renderer.createTemplate", visit.company);
  return show(visit, undefined, starterOf(visit.query.from));
}

export async function visualPage(visit: CompanyVisit): Promise<Answer> {
  const template = await callIn(visit, "renderer.getTemplate", { id: visit.params.id! });
  // A template of HTML has nothing that could be shown here.
  const isReadable = template.design && may(visit, "renderer.updateTemplate");
  return isReadable ? show(visit, template) : { goTo: templatesPath(visit, `${template.id}?mode=html`) };
}

/** Undefined for what is no JSON object with a design. */
export function documentOf({ form }: CompanyVisit): Content | undefined {
  try {
    const given: unknown = JSON.parse(form.document ?? "");
    if (!isObject(given) || !isObject(given.design)) return undefined;
    const { subject, preheader } = given;
    return {
      ...(given as Content),
      subject: typeof subject === "string" ? subject : "",
      preheader: typeof preheader === "string" && preheader !== "" ? preheader : null,
    };
  } catch {
    return undefined;
  }
}

export const refused = (errors: Record<string, string[]>): RawResponse => asJson({ errors }, 400);

async function saved(visit: CompanyVisit, work: (content: Content) => Promise<Template>): Promise<RawResponse> {
  const content = documentOf(visit);
  if (!content) return refused({ design: [messages.visual.problems.away] });
  try {
    const { id, updated_at } = await work(content);
    return asJson({ id, seen: updated_at, here: templatesPath(visit, `${id}/visual`) });
  } catch (error) {
    if (isServiceError(error, "INVALID")) return refused(error.data.fields);
    throw error;
  }
}

export const makeVisual = (visit: CompanyVisit): Promise<RawResponse> => {
  requireMay(visit, "renderer.createTemplate");
  return saved(visit, ({ unchanged_since: _, ...content }) => callIn(visit, "renderer.createTemplate", content));
};

export async function saveVisual(visit: CompanyVisit): Promise<RawResponse> {
  requireMay(visit, "renderer.updateTemplate");
  const id = visit.params.id!;
  try {
    return await saved(visit, (content) => callIn(visit, "renderer.updateTemplate", { ...content, id }));
  } catch (error) {
    if (!isServiceError(error, "CONFLICT")) throw error;
    const template = await callIn(visit, "renderer.getTemplate", { id });
    const conflict = await conflictOf(visit, template, documentOf(visit)?.unchanged_since);
    const { updated_at } = template;
    return asJson({ ...conflict, at: timeOf(updated_at, visit.company.timezone), seen: updated_at }, 409);
  }
}

/** The design as it stands, for the frame. */
export async function previewVisual(visit: CompanyVisit): Promise<RawResponse> {
  requirePermission("renderer.previewContent", visit.company);
  const given = documentOf(visit);
  if (!given) return { ...editorFrame(sentencesPage([messages.visual.problems.away])), status: 400 };
  const { name: _, unchanged_since: __, ...content } = given;
  const { variables } = await readerOf(visit, visit.form.reader);
  const subject = content.subject.trim() === "" ? messages.templates.noSubject : content.subject;
  try {
    const shown = await callIn(visit, "renderer.previewContent", { ...content, subject, variables });
    return editorFrame(lookOf(shown, viewOf(visit.form.view)));
  } catch (error) {
    if (!isServiceError(error, "INVALID")) throw error;
    return editorFrame(sentencesPage(Object.values(error.data.fields).flat()));
  }
}
