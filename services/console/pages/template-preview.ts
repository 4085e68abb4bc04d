/**
 * The editor's preview: documents for its frame, and what to look at beside it. With JavaScript the page asks for the findings
 * while somebody types, and they bring the mail along; without it a button sends the form into the frame.
 */
import { isServiceError } from "../../lib/errors.ts";
import { sizeText } from "../../lib/size-text.ts";
import { requirePermission } from "../../permissions.ts";
import type { Shown } from "../contract.ts";
import { mailFrame } from "../mail-frame.ts";
import { lookOf, sentencesPage, viewOf } from "../mail-look.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, may } from "../request.ts";
import { contentOf, isConvertible, type Problem, problemsOf, readerOf, type Typed, typedOf } from "./template-form.ts";

/**
 * The editor's page writes into the frame, so that the preview keeps its place while somebody types: the frame keeps its
 * origin. Scripts stay off twice, by the frame's `sandbox` and by the policy.
 */
function editorFrame(html: string): Shown {
  const frame = mailFrame(html);
  const policy = frame.headers!["content-security-policy"]!.replace(/\bsandbox$/, "sandbox allow-same-origin");
  return { ...frame, headers: { ...frame.headers, "content-security-policy": policy } };
}

/** Until there is anything to show. */
export const emptyFrame = (): Shown => editorFrame(lookOf({ html: "", text: "" }, "desktop"));

/** The sentences of a refusal, at their fields. */
async function orErrors<T>(work: () => Promise<T>): Promise<{ made: T } | { errors: Record<string, string[]> }> {
  try {
    return { made: await work() };
  } catch (error) {
    if (!isServiceError(error, "INVALID")) throw error;
    return { errors: error.data.fields };
  }
}

const asDocument = (outcome: Awaited<ReturnType<typeof orErrors<string>>>): Shown =>
  editorFrame("made" in outcome ? outcome.made : sentencesPage(Object.values(outcome.errors).flat()));

/** A template as it is saved. */
export async function templateFrame(visit: CompanyVisit): Promise<Shown> {
  const id = visit.params.id!;
  const view = viewOf(visit.query.view);
  if (!may(visit, "renderer.preview")) {
    const { body, text_body, template_mode } = await callIn(visit, "renderer.getTemplate", { id });
    return editorFrame(lookOf({ html: body, text: text_body ?? "" }, template_mode === "mjml" ? "text" : view));
  }
  const { variables } = await readerOf(visit, visit.query.reader);
  return asDocument(
    await orErrors(async () => lookOf(await callIn(visit, "renderer.preview", { id, variables }), view)),
  );
}

async function rendered(visit: CompanyVisit, typed: Typed) {
  const { variables, isMissing } = await readerOf(visit, visit.form.reader);
  const { name: _, ...content } = contentOf(typed);
  const subject = content.subject.trim() === "" ? messages.templates.noSubject : content.subject;
  const shown = await callIn(visit, "renderer.previewContent", { ...content, subject, variables });
  return { shown, isMissing };
}

/** The form as it stands, for the frame. */
export async function showPreview(visit: CompanyVisit): Promise<Shown> {
  requirePermission("renderer.previewContent", visit.company);
  const view = viewOf(visit.form.view);
  return asDocument(await orErrors(async () => lookOf((await rendered(visit, typedOf(visit.form))).shown, view)));
}

export interface Findings {
  subject?: string;
  size?: string;
  warnings: string[];
  problems: Problem[];
  /** Converting would change something that is warned of. */
  isConvertible: boolean;
}

type Rendered = Awaited<ReturnType<typeof rendered>>["shown"];

export const findingsOf = ({ subject, html, warnings }: Omit<Rendered, "text">, isConvertible: boolean): Findings => ({
  subject,
  size: sizeText(Buffer.byteLength(html)),
  warnings,
  problems: [],
  isConvertible,
});

/** The form as it stands: what to look at, and the mail. A part of a page. */
export async function showFindings(visit: CompanyVisit): Promise<Answer> {
  requirePermission("renderer.previewContent", visit.company);
  const typed = typedOf(visit.form);
  const outcome = await orErrors(() => rendered(visit, typed));
  const t = messages.templates;
  if ("errors" in outcome) {
    const findings: Findings = {
      warnings: [],
      problems: problemsOf(outcome.errors, typed),
      isConvertible: await isConvertible(visit, typed),
    };
    return { view: "template-findings", title: t.findings, values: { findings } };
  }
  const { shown, isMissing } = outcome.made;
  const findings = findingsOf(shown, await isConvertible(visit, typed));
  if (isMissing) findings.warnings.unshift(t.noReader((visit.form.reader ?? "").trim()));
  const mail = lookOf(shown, viewOf(visit.form.view));
  return { view: "template-findings", title: t.findings, values: { findings, mail } };
}
