/** Converts the body or the design of a request to the HTML and the text part that are sent. */
import { textToSend } from "../../../models/template.ts";
import { isEmptyDesign } from "../../lib/design/check.ts";
import type { Design } from "../../lib/design/design.ts";
import { invalid } from "../../lib/errors.ts";
import { htmlOf } from "../../lib/made-html/make-html.ts";
import { bodyErrors } from "../../lib/template/template-errors.ts";
import { madeDesign } from "../../made-design.ts";
import type { Content } from "../contract-content.ts";
import type { GivenVariant } from "./variants.ts";

const NOT_BOTH = "Give either design or body, not both.";
const EMPTY_DESIGN = "blocks: Add at least one block with content.";

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
  const { errors } = await madeDesign(companyId, design, { inlinesCss });
  if (errors) return errors;
  return isEmptyDesign(design as unknown as Design) ? [EMPTY_DESIGN] : [];
}

type Given = Omit<Partial<Content>, "subject">;

interface AsSent {
  body?: string;
  text_body?: string | null;
}
interface AsStored extends AsSent {
  /** Text part of the design, also if `text_body` replaces it. */
  design_text?: string | null;
}

/** The fields that change; none without body and design. Throws 400. */
export async function asStored(companyId: string, content: Given): Promise<AsStored> {
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

/** The same without what only a campaign's row keeps. */
export async function asSent(companyId: string, content: Given): Promise<AsSent> {
  const { design_text: _, ...sent } = await asStored(companyId, content);
  return sent;
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
