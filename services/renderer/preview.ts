/** Templates with the given variables, saved or not: rendered like an email, for a sample recipient. */
import { queryOne } from "../../models/database/db.ts";
import { Template, textToSend } from "../../models/template.ts";
import { invalid, notFound } from "../lib/errors.ts";
import type { Static } from "../lib/shapes.ts";
import { installation } from "./compiled-campaign.ts";
import { Unrenderable, UnusableTemplate } from "./content.ts";
import type { contract } from "./contract-templates.ts";
import { previewInThread } from "./heavy.ts";
import type { Preview } from "./heavy-tasks.ts";
import type { Data } from "./program/scope.ts";
import { contentAfter } from "./template-content.ts";
import { type Audience, templateWarnings } from "./warnings.ts";

type PreviewResult = Omit<Preview, "facts"> & { warnings: string[] };

export interface Texts {
  subject: string;
  /** The HTML that would be sent. */
  body: string;
  preheader: string | null;
  textBody: string | null;
  isTransactional: boolean;
}

interface Company {
  name: string;
  footer_text: string;
  tracking_domain: string | null;
}

const COMPANY = `
  select c.name, c.footer_text, t.domain as tracking_domain from companies c
  left join tracking_domains t on t.company_id = c.id and t.proved_at is not null where c.id = $1`;

/** Throws what reading the texts throws. `given`: variables that need no warning if nobody has a value. */
export async function shownOf(
  companyId: string,
  texts: Texts | Promise<Texts>,
  variables: Data,
  audience: Audience = {},
  given: string[] = Object.keys(variables),
): Promise<PreviewResult> {
  const [read, company] = await Promise.all([texts, queryOne<Company>(COMPANY, [companyId])]);
  if (!company) throw notFound();
  const source = { ...read, companyName: company.name, footerText: company.footer_text };
  try {
    const { baseUrl } = installation(company.tracking_domain);
    const { facts, ...shown } = await previewInThread(companyId, source, variables, baseUrl);
    const { isTransactional } = source;
    const described = {
      facts,
      htmlBytes: Buffer.byteLength(shown.html),
      isTransactional,
      given,
      audience,
    };
    return { ...shown, warnings: await templateWarnings(companyId, described) };
  } catch (error) {
    if (error instanceof UnusableTemplate) throw invalid(error.fields);
    if (error instanceof Unrenderable && error.cause) throw error;
    if (error instanceof Unrenderable) throw invalid({ variables: [error.message] });
    throw error;
  }
}

/** Throws 404. */
export async function textsOf(companyId: string, id: string): Promise<Texts> {
  const template = await Template.findOne({ where: { id, companyId } });
  if (!template) throw notFound();
  const { subject, html, body, preheader, templateType } = template;
  return {
    subject,
    body: html ?? body,
    preheader,
    textBody: template.textToSend(),
    isTransactional: templateType === "transactional",
  };
}

export const preview = async (companyId: string, id: string, variables: Data = {}): Promise<PreviewResult> =>
  shownOf(companyId, textsOf(companyId, id), variables);

type Content = Static<(typeof contract)["previewContent"]["params"]>;

export async function previewContent(
  companyId: string,
  { variables = {}, ...content }: Content,
): Promise<PreviewResult> {
  const { subject, preheader = null, text_body = null, template_type } = content;
  const { html, body = content.body ?? "", designText } = await contentAfter(companyId, null, content);
  const isTransactional = template_type === "transactional";
  const textBody = textToSend(text_body, designText);
  return shownOf(companyId, { subject, body: html ?? body, preheader, textBody, isTransactional }, variables);
}
