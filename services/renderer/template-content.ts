/** What a template holds, checked and made ready to be sent: as it is after a request, whichever of its fields that names. */
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

/** Whether the request changes what is sent for the body. */
export const concernsBody = ({ body, template_mode, inline_css }: Input): boolean =>
  body !== undefined || template_mode !== undefined || inline_css !== undefined;

/** The sentences on the body that the template would have. */
export async function bodyErrorsAfter(companyId: string, before: Before | null, input: Input): Promise<string[]> {
  const recipe = recipeOf(before ?? NOTHING, input);
  if (isMadeOf(recipe)) return (await htmlOf(companyId, recipe)).errors ?? [];
  return input.body === undefined && before?.templateMode !== "mjml" ? [] : bodyErrors(companyId, recipe.body);
}

/** What is sent in place of the body; null for a body that is sent as it stands. Throws 400. */
export async function htmlAfter(companyId: string, before: Before | null, input: Input): Promise<string | null> {
  const recipe = recipeOf(before ?? NOTHING, input);
  if (!isMadeOf(recipe)) return null;
  const { html, errors } = await htmlOf(companyId, recipe);
  if (errors) throw invalid({ body: errors });
  return html;
}
