/** Validates a template's content and prepares it for sending, merging the request's fields with the stored ones. */
import type { Template } from "../../models/template.ts";
import type { DesignTree } from "../lib/design/shape.ts";
import { type FieldErrors, invalid } from "../lib/errors.ts";
import { htmlOf, isMade, type Recipe } from "../lib/made-html/make-html.ts";
import type { Static } from "../lib/shapes.ts";
import { bodyErrors } from "../lib/template/template-errors.ts";
import type { contract } from "./contract-templates.ts";
import { madeDesign } from "./made-design.ts";

export type Input = Partial<Static<(typeof contract)["createTemplate"]["params"]>>;

type Before = Pick<Template, "body" | "templateMode" | "inlineCss" | "design">;
const NOTHING: Before = { body: "", templateMode: "basic", inlineCss: false, design: null };

const NOT_BOTH = "Give either design or body, not both.";
const VISUAL = "A template with a design is `visual`. Give a body, too, to replace the design.";

const recipeOf = (before: Before, { body, template_mode, inline_css }: Input): Recipe => ({
  body: body ?? before.body,
  isMjml: (template_mode ?? before.templateMode) === "mjml",
  inlinesCss: inline_css ?? before.inlineCss,
});

const isMadeOf = (recipe: Recipe) => isMade(recipe) && recipe.body.trim() !== "";

/** True if the request changes the HTML sent for the body. */
export const concernsBody = ({ body, design, template_mode, inline_css }: Input): boolean =>
  body !== undefined || design !== undefined || template_mode !== undefined || inline_css !== undefined;

/** The design that the template would have; a body that differs from the design's replaces it. */
function designAfter(before: Before, { design, body }: Input): DesignTree | null {
  if (design !== undefined) return design;
  return body === undefined || body === before.body ? before.design : null;
}

/** True if the request replaces the template's design by a body. */
export const replacesDesign = (before: Before, input: Input): boolean =>
  before.design !== null && input.design === undefined && designAfter(before, input) === null;

/** The sentences on the body, or the design, that the template would have. */
export async function contentErrors(companyId: string, before: Before | null, input: Input): Promise<FieldErrors> {
  const design = designAfter(before ?? NOTHING, input);
  if (design === null) return errorsOn("body", await bodyErrorsAfter(companyId, before, input));
  if (input.design && input.body?.trim()) return { design: [NOT_BOTH] };
  if ((input.template_mode ?? "visual") !== "visual") return { template_mode: [VISUAL] };
  const { errors = [] } = await madeDesign(companyId, design, recipeOf(before ?? NOTHING, input).inlinesCss);
  return errorsOn("design", errors);
}

const errorsOn = (field: "body" | "design", errors: string[]): FieldErrors =>
  errors.length > 0 ? { [field]: errors } : {};

async function bodyErrorsAfter(companyId: string, before: Before | null, input: Input): Promise<string[]> {
  const recipe = recipeOf(before ?? NOTHING, input);
  if (isMadeOf(recipe)) return (await htmlOf(companyId, recipe)).errors ?? [];
  return input.body === undefined && before?.templateMode !== "mjml" ? [] : bodyErrors(companyId, recipe.body);
}

type ContentAfter = Pick<Template, "html" | "design" | "designText"> & Partial<Pick<Template, "body" | "templateMode">>;

/** Returns what is stored besides the request's fields: `html` is sent instead of the body. Throws 400. */
export async function contentAfter(companyId: string, before: Before | null, input: Input): Promise<ContentAfter> {
  const recipe = recipeOf(before ?? NOTHING, input);
  const design = designAfter(before ?? NOTHING, input);
  if (design !== null) {
    const { html, text, errors } = await madeDesign(companyId, design, recipe.inlinesCss);
    if (errors) throw invalid({ design: errors });
    return { design, designText: text, body: html, html: null, templateMode: "visual" };
  }
  const none = { design: null, designText: null };
  if (!isMadeOf(recipe)) return { ...none, html: null };
  const { html, errors } = await htmlOf(companyId, recipe);
  if (errors) throw invalid({ body: errors });
  return { ...none, html };
}
