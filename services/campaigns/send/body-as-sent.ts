/** Converts the body or the design of a request to the HTML and the text part that are sent. */
import { textToSend } from "../../../models/template.ts";
import { invalid } from "../../lib/errors.ts";
import { htmlOf } from "../../lib/made-html/make-html.ts";
import { bodyErrors } from "../../lib/template/template-errors.ts";
import { madeDesign } from "../../made-design.ts";
import type { Content } from "../contract-content.ts";
import type { GivenVariant } from "./variants.ts";

const NOT_BOTH = "Give either design or body, not both.";

export async function errorsOfBody(companyId: string, body: string, inlinesCss: boolean): Promise<string[]> {
  if (!inlinesCss) return bodyErrors(companyId, body);
  return (await htmlOf(companyId, { body, isMjml: false, inlinesCss })).errors ?? [];
}

export async function errorsOfDesign(
  companyId: string,
  { design, body }: Pick<Content, "design" | "body">,
  inlinesCss: boolean,
): Promise<string[]> {
  if (body !== undefined) return [NOT_BOTH];
  return (await madeDesign(companyId, design, { inlinesCss })).errors ?? [];
}

interface AsSent {
  body?: string;
  text_body?: string | null;
  /** Text part of the design. */
  design_text?: string | null;
}

/** The fields that change; none without body and design. Throws 400. */
export async function asSent(companyId: string, content: Omit<Partial<Content>, "subject">): Promise<AsSent> {
  const { body, design, text_body = null, inline_css: inlinesCss = false } = content;
  if (design !== undefined) {
    const { html, text, errors } = await madeDesign(companyId, design, { inlinesCss });
    if (errors) throw invalid({ design: errors });
    return { body: html, text_body: textToSend(text_body, text), design_text: text };
  }
  if (body === undefined) return {};
  if (!inlinesCss) return { body };
  const { html, errors } = await htmlOf(companyId, { body, isMjml: false, inlinesCss });
  if (errors) throw invalid({ body: errors });
  return { body: html };
}

/** Variants with their own contents as they are sent. Throws 400. */
export const variantsAsSent = (companyId: string, variants: readonly GivenVariant[]): Promise<GivenVariant[]> =>
  Promise.all(
    variants.map(async (variant) => {
      const { content } = variant;
      if (!content) return variant;
      const { design: _, ...own } = content;
      return { ...variant, content: { ...own, ...(await asSent(companyId, content)) } };
    }),
  );
