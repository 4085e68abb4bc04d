/**
 * The editor's preview: documents for its frame, and findings beside it. With JavaScript the page requests both while
 * somebody types; without it a button submits the form into the frame.
 */
import type { ReturnsOf } from "../../contracts.ts";
import { isServiceError } from "../../lib/errors.ts";
import { sizeText } from "../../lib/size-text.ts";
import { requirePermission } from "../../permissions.ts";
import type { RawResponse } from "../contract.ts";
import { mailFrame } from "../mail-frame.ts";
import { asText, lookOf, sentencesPage, viewOf } from "../mail-look.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, may } from "../request.ts";
import { contentOf, isConvertible, type Problem, problemsOf, readerOf, type Typed, typedOf } from "./template-form.ts";

/**
 * Allows the same origin, because the editor's page writes into the frame to keep its scroll position. Scripts stay
 * disabled by the frame's `sandbox` and by the policy.
 */
export function editorFrame(html: string): RawResponse {
  const frame = mailFrame(html);
  const policy = frame.headers!["content-security-policy"]!.replace(/\bsandbox$/, "sandbox allow-same-origin");
  return { ...frame, headers: { ...frame.headers, "content-security-policy": policy } };
}

/** Empty document for the frame. */
export const emptyFrame = (): RawResponse => editorFrame(lookOf({ html: "", text: "" }, "desktop"));

/** Returns the result or the errors by field. */
async function orErrors<T>(work: () => Promise<T>): Promise<{ made: T } | { errors: Record<string, string[]> }> {
  try {
    return { made: await work() };
  } catch (error) {
    if (!isServiceError(error, "INVALID")) throw error;
    return { errors: error.data.fields };
  }
}

const asDocument = (outcome: Awaited<ReturnType<typeof orErrors<string>>>): RawResponse =>
  editorFrame("made" in outcome ? outcome.made : sentencesPage(Object.values(outcome.errors).flat()));

/** Shows the saved template. */
export async function templateFrame(visit: CompanyVisit): Promise<RawResponse> {
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

/** Shows the current form's mail in the frame. */
export async function showPreview(visit: CompanyVisit): Promise<RawResponse> {
  requirePermission("renderer.previewContent", visit.company);
  const view = viewOf(visit.form.view);
  return asDocument(await orErrors(async () => lookOf((await rendered(visit, typedOf(visit.form))).shown, view)));
}

export interface Findings {
  subject?: string;
  size?: string;
  warnings: string[];
  problems: Problem[];
  /** Accessibility, and support by email clients. */
  faults: ReturnsOf<"renderer.checkTemplate">["findings"];
  /** True if converting would fix a warning. */
  isConvertible: boolean;
}

type Rendered = Awaited<ReturnType<typeof rendered>>["shown"];

export const findingsOf = ({ subject, html, warnings }: Omit<Rendered, "text">, isConvertible: boolean): Findings => ({
  subject,
  size: sizeText(Buffer.byteLength(html)),
  warnings,
  problems: [],
  faults: [],
  isConvertible,
});

/** Checks the mail as rendered for the chosen reader, whatever format it was written in. */
async function faultsOf(visit: CompanyVisit, { subject, html }: Rendered): Promise<Findings["faults"]> {
  if (!may(visit, "renderer.checkTemplate")) return [];
  const { findings } = await callIn(visit, "renderer.checkTemplate", { subject, body: asText(html), quick: true });
  // The preview warns of its size.
  return findings.filter(({ kind }) => kind !== "weight");
}

/** Returns findings and mail of the current form as a part of a page. */
export async function showFindings(visit: CompanyVisit): Promise<Answer> {
  requirePermission("renderer.previewContent", visit.company);
  const typed = typedOf(visit.form);
  const outcome = await orErrors(() => rendered(visit, typed));
  const t = messages.templates;
  if ("errors" in outcome) {
    const findings: Findings = {
      warnings: [],
      faults: [],
      problems: problemsOf(outcome.errors, typed),
      isConvertible: await isConvertible(visit, typed),
    };
    return { view: "template-findings", title: t.findings, values: { findings } };
  }
  const { shown, isMissing } = outcome.made;
  const findings = findingsOf(shown, await isConvertible(visit, typed));
  findings.faults = await faultsOf(visit, shown);
  if (isMissing) findings.warnings.unshift(t.noReader((visit.form.reader ?? "").trim()));
  const mail = lookOf(shown, viewOf(visit.form.view));
  return { view: "template-findings", title: t.findings, values: { findings, mail } };
}
