/** Validates a template's content and prepares it for sending, merging the request's fields with the stored ones. */
import type { Template } from "../../models/template.ts";
import { invalid } from "../lib/errors.ts";
import { htmlOf, isMade, type Recipe } from "../lib/made-html/make-html.ts";
import type { Static } from "../lib/shapes.ts";
import { bodyErrors } from "../lib/template/template-errors.ts";
import type { contract } from "./contract-templates.ts";

export type Input = Partial<Static<(typeof contract)["createTemplate"]["params"]>>;

type Before = Pick<Template, "body" | "templateMode" | "inlineCss">;
const NOTHING: Before = { body: "", templateMode: "basic", inlineCss: false };

const recipeOf = (before: Before, { body, template_mode, inline_css }: Input): Recipe => ({
  body: body ?? before.body,
  isMjml: (template_mode ?? before.templateMode) === "mjml",
  inlinesCss: inline_css ?? before.inlineCss,
});

const isMadeOf = (recipe: Recipe) => isMade(recipe) && recipe.body.trim() !== "";

/** True if the request changes the HTML sent for the body. */
export const concernsBody = ({ body, template_mode, inline_css }: Input): boolean =>
  body !== undefined || template_mode !== undefined || inline_css !== undefined;

/** The sentences on the body that the template would have. */
export async function bodyErrorsAfter(companyId: string, before: Before | null, input: Input): Promise<string[]> {
  const recipe = recipeOf(before ?? NOTHING, input);
  if (isMadeOf(recipe)) return (await htmlOf(companyId, recipe)).errors ?? [];
  return input.body === undefined && before?.templateMode !== "mjml" ? [] : bodyErrors(companyId, recipe.body);
}

/** HTML to send instead of the body; null if the body is sent as it is. Throws 400. */
export async function htmlAfter(companyId: string, before: Before | null, input: Input): Promise<string | null> {
  const recipe = recipeOf(before ?? NOTHING, input);
  if (!isMadeOf(recipe)) return null;
  const { html, errors } = await htmlOf(companyId, recipe);
  if (errors) throw invalid({ body: errors });
  return html;
}
