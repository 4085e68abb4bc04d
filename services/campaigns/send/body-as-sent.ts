/** Converts the body of a request to the HTML that is sent. */
import { invalid } from "../../lib/errors.ts";
import { htmlOf } from "../../lib/made-html/make-html.ts";
import { bodyErrors } from "../../lib/template/template-errors.ts";
import type { GivenVariant } from "./variants.ts";

export async function errorsOfBody(companyId: string, body: string, inlinesCss: boolean): Promise<string[]> {
  if (!inlinesCss) return bodyErrors(companyId, body);
  return (await htmlOf(companyId, { body, isMjml: false, inlinesCss })).errors ?? [];
}

/** Throws 400 if the body cannot be converted. */
export async function bodyAsSent(companyId: string, body: string, inlinesCss: boolean): Promise<string> {
  if (!inlinesCss) return body;
  const { html, errors } = await htmlOf(companyId, { body, isMjml: false, inlinesCss });
  if (errors) throw invalid({ body: errors });
  return html;
}

/** Throws 400 if the body of a variant cannot be converted. */
export const variantsAsSent = (companyId: string, variants: readonly GivenVariant[]): Promise<GivenVariant[]> =>
  Promise.all(
    variants.map(async (variant) => {
      const { content } = variant;
      if (!content) return variant;
      const body = await bodyAsSent(companyId, content.body, content.inline_css ?? false);
      return { ...variant, content: { ...content, body } };
    }),
  );
