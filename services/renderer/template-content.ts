/** Validates a template's content and prepares it for sending, merging the request's fields with the stored ones. */
import type { Template, TemplateMode } from "../../models/template.ts";
import type { DesignTree } from "../lib/design/shape.ts";
import { type FieldErrors, invalid } from "../lib/errors.ts";
import { htmlOf, isMade, type Recipe } from "../lib/made-html/make-html.ts";
import type { Static } from "../lib/shapes.ts";
import { bodyErrors } from "../lib/template/template-errors.ts";
import { type Made, madeDesign } from "../made-design.ts";
import type { contract } from "./contract-templates.ts";
import { madeMarkdown } from "./made-markdown.ts";

export type Input = Partial<Static<(typeof contract)["createTemplate"]["params"]>>;

type Before = Pick<Template, "body" | "templateMode" | "inlineCss" | "design" | "markdown">;
const NOTHING: Before = { body: "", templateMode: "basic", inlineCss: false, design: null, markdown: null };

/** Source of a body, by the request's field. */
type Source = { field: "design"; value: DesignTree } | { field: "markdown"; value: string };

const NAMES = { design: "design", markdown: "Markdown" } as const;
const MODES = { design: "visual", markdown: "basic" } as const satisfies Record<Source["field"], TemplateMode>;
const ONLY_MODE = {
  design: "A template with a design is `visual`. Give a body, too, to replace the design.",
  markdown: "A template with Markdown is `basic`. Give a body, too, to replace the Markdown.",
} as const;

const recipeOf = (before: Before, { body, template_mode, inline_css }: Input): Recipe => ({
  body: body ?? before.body,
  isMjml: (template_mode ?? before.templateMode) === "mjml",
  inlinesCss: inline_css ?? before.inlineCss,
});

const isMadeOf = (recipe: Recipe) => isMade(recipe) && recipe.body.trim() !== "";

/** True if the request changes the HTML sent for the body. */
export const concernsBody = ({ body, design, markdown, template_mode, inline_css }: Input): boolean =>
  [body, design, markdown, template_mode, inline_css].some((value) => value !== undefined);

const sourceOf = (markdown: string | null | undefined, design: DesignTree | null | undefined): Source | null => {
  if (typeof markdown === "string") return { field: "markdown", value: markdown };
  return design ? { field: "design", value: design } : null;
};

/** The source that the template would have; a body that differs from the one made replaces it. */
function sourceAfter(before: Before, { design, markdown, body }: Input): Source | null {
  const given = sourceOf(markdown, design);
  if (given || (body !== undefined && body !== before.body)) return given;
  return sourceOf(markdown === null ? null : before.markdown, design === null ? null : before.design);
}

/** Warns if the request replaces the template's design or Markdown by something else. */
export function replacementWarnings(before: Before, input: Input): string[] {
  const was = sourceOf(before.markdown, before.design)?.field;
  const now = sourceAfter(before, input)?.field;
  if (!was || was === now || input[was] === null) return [];
  return [`The new ${now ? NAMES[now] : "body"} replaces the ${NAMES[was]}. The version before this one keeps it.`];
}

/**
 * Field that the request gives together with the source, although only one of them is possible. The stored body is no
 * rival: clients send back all that they read.
 */
function rivalOf({ field }: Source, before: Before, { design, markdown, body }: Input): string | undefined {
  if (field === "markdown" && typeof markdown === "string" && design) return "design";
  return sourceOf(markdown, design) && body?.trim() && body !== before.body ? "body" : undefined;
}

const made = (companyId: string, { field, value }: Source, inlinesCss: boolean): Promise<Made> =>
  field === "design" ? madeDesign(companyId, value, { inlinesCss }) : madeMarkdown(companyId, value, inlinesCss);

/** The sentences on the body, or its source, that the template would have. */
export async function contentErrors(companyId: string, before: Before | null, input: Input): Promise<FieldErrors> {
  const source = sourceAfter(before ?? NOTHING, input);
  if (source === null) return errorsOn("body", await bodyErrorsAfter(companyId, before, input));
  const { field } = source;
  const rival = rivalOf(source, before ?? NOTHING, input);
  if (rival) return { [field]: [`Give either ${field} or ${rival}, not both.`] };
  if ((input.template_mode ?? MODES[field]) !== MODES[field]) return { template_mode: [ONLY_MODE[field]] };
  const { errors = [] } = await made(companyId, source, recipeOf(before ?? NOTHING, input).inlinesCss);
  return errorsOn(field, errors);
}

const errorsOn = (field: "body" | Source["field"], errors: string[]): FieldErrors =>
  errors.length > 0 ? { [field]: errors } : {};

async function bodyErrorsAfter(companyId: string, before: Before | null, input: Input): Promise<string[]> {
  const recipe = recipeOf(before ?? NOTHING, input);
  if (isMadeOf(recipe)) return (await htmlOf(companyId, recipe)).errors ?? [];
  return input.body === undefined && before?.templateMode !== "mjml" ? [] : bodyErrors(companyId, recipe.body);
}

type ContentAfter = Pick<Template, "html" | "design" | "markdown" | "designText"> &
  Partial<Pick<Template, "body" | "templateMode">>;

/** Returns what is stored besides the request's fields: `html` is sent instead of the body. Throws 400. */
export async function contentAfter(companyId: string, before: Before | null, input: Input): Promise<ContentAfter> {
  const recipe = recipeOf(before ?? NOTHING, input);
  const source = sourceAfter(before ?? NOTHING, input);
  const none = { design: null, markdown: null, designText: null };
  if (source !== null) {
    const { field, value } = source;
    const { html, text, errors } = await made(companyId, source, recipe.inlinesCss);
    if (errors) throw invalid({ [field]: errors });
    return { ...none, [field]: value, designText: text, body: html, html: null, templateMode: MODES[field] };
  }
  if (!isMadeOf(recipe)) return { ...none, html: null };
  const { html, errors } = await htmlOf(companyId, recipe);
  if (errors) throw invalid({ body: errors });
  return { ...none, html };
}
