/** Renders what a draft, even an incomplete one, would send to one receiver. */
import { call } from "../../call.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { invalid, isServiceError, missingObject } from "../../lib/errors.ts";
import { isUuid } from "../../lib/ids.ts";
import { asSent } from "../send/body-as-sent.ts";
import { type Body, findDraft, isObject } from "./drafts.ts";

const NOTHING_WRITTEN = "Give template_id, or subject with body or design.";

const textIn = (body: Body, field: string): string | undefined => {
  const value = body[field];
  return typeof value === "string" ? value : undefined;
};

function variantOf({ variants }: Body, index: number): Body {
  const one: unknown = Array.isArray(variants) ? variants[index] : undefined;
  return isObject(one) ? one : {};
}

/** Values that the draft gives for one receiver. */
function valuesOf({ receivers }: Body, email: string): Body {
  const isMeant = (one: unknown): one is Body =>
    isObject(one) && typeof one.email === "string" && one.email.trim().toLowerCase() === email.toLowerCase();
  const found: unknown = Array.isArray(receivers) ? receivers.find(isMeant) : undefined;
  if (!isObject(found)) return {};
  const { email: _email, cc: _cc, bcc: _bcc, ...values } = found;
  return values;
}

/** The variant's own template or content, else the draft's. */
function sourceOf(body: Body, variant: Body): { templateId: string | undefined; written: Body } {
  const names = ({ template_id, content }: Body) => typeof template_id === "string" || isObject(content);
  const source = [variant, body].find(names) ?? body;
  return { templateId: textIn(source, "template_id"), written: isObject(source.content) ? source.content : body };
}

/** Content as the renderer takes it. */
async function contentOf(companyId: string, body: Body, index: number) {
  const variant = variantOf(body, index);
  const { templateId, written } = sourceOf(body, variant);
  const subject = textIn(variant, "subject");
  if (templateId !== undefined) {
    if (!isUuid(templateId)) throw invalid({ template_id: [missingObject(templateId)] });
    return { template_id: templateId, ...(subject === undefined ? {} : { subject }) };
  }
  const html = textIn(written, "body");
  const design = isObject(written.design) ? written.design : undefined;
  if (html === undefined && !design) throw invalid({ template_id: [NOTHING_WRITTEN] });
  const text_body = textIn(written, "text_body") ?? null;
  const given = { ...(design ? { design } : { body: html! }), text_body, inline_css: written.inline_css === true };
  return {
    subject: subject ?? textIn(written, "subject") ?? "",
    preheader: textIn(written, "preheader") ?? null,
    text_body,
    ...(await asSent(companyId, given)),
  };
}

export async function previewDraft(
  ctx: Ctx<ParamsOf<"campaigns.previewDraft">>,
): Promise<ReturnsOf<"campaigns.previewDraft">> {
  const companyId = companyOf(ctx);
  const { id, variant = 0 } = ctx.params;
  const email = ctx.params.email?.trim();
  const { body, kind } = await findDraft(companyId, id);
  const content = await contentOf(companyId, body, variant);
  const person = email === undefined ? {} : { email, variables: valuesOf(body, email) };
  const isTransactional = body.is_transactional === true;
  try {
    const listId = textIn(body, "list_id");
    const list = kind === "to-list" && listId !== undefined && isUuid(listId) ? { list_id: listId } : {};
    return await call(ctx, "renderer.previewDraft", {
      ...content,
      ...person,
      ...list,
      is_to_receivers: kind !== "to-list",
      is_transactional: isTransactional,
    });
  } catch (error) {
    const { template_id } = content as { template_id?: string };
    if (template_id === undefined || !isServiceError(error, "NOT_FOUND")) throw error;
    throw invalid({ template_id: [missingObject(template_id)] });
  }
}
