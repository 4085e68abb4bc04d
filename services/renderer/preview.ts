/** A template, or content that is not saved as one, with the given variables: rendered like a mail, for a sample recipient. */
import { Company } from "../../models/company.ts";
import { queryOne } from "../../models/database/db.ts";
import { subscriberOf } from "../../models/database/row-at.ts";
import { activeTrackingDomain } from "../../models/statements/tracking-domains.ts";
import { Template } from "../../models/template.ts";
import { invalid, notFound } from "../lib/errors.ts";
import { installation } from "./compiled-campaign.ts";
import { Unrenderable, UnusableTemplate } from "./content.ts";
import type { PreviewContent } from "./contract.ts";
import { previewInThread } from "./heavy.ts";
import type { Preview } from "./heavy-tasks.ts";
import type { Data } from "./program/scope.ts";
import { templateWarnings } from "./warnings.ts";

type Shown = Omit<Preview, "facts"> & { warnings: string[] };

interface Text {
  subject: string;
  body: string;
  preheader: string | null;
  textBody: string | null;
  isTransactional: boolean;
}

async function shown(companyId: string, text: Text, variables: Data): Promise<Shown> {
  const company = await Company.findByPk(companyId);
  if (!company) throw notFound();
  const source = { ...text, companyName: company.name, footerText: company.footerText };
  try {
    const { baseUrl } = installation(await activeTrackingDomain(companyId));
    const { facts, ...made } = await previewInThread(companyId, source, variables, baseUrl);
    const { isTransactional } = source;
    const described = {
      facts,
      htmlBytes: Buffer.byteLength(made.html),
      isTransactional,
      given: Object.keys(variables),
    };
    return { ...made, warnings: await templateWarnings(companyId, described) };
  } catch (error) {
    if (error instanceof UnusableTemplate) throw invalid(error.fields);
    if (error instanceof Unrenderable && error.cause) throw error;
    if (error instanceof Unrenderable) throw invalid({ variables: [error.message] });
    throw error;
  }
}

async function textOf(companyId: string, id: string): Promise<Text> {
  const template = await Template.findOne({ where: { id, companyId } });
  if (!template) throw notFound();
  const { subject, body, html, preheader, textBody, templateType } = template;
  return { subject, body: html ?? body, preheader, textBody, isTransactional: templateType === "transactional" };
}

export const preview = async (companyId: string, id: string, variables: Data = {}): Promise<Shown> =>
  shown(companyId, await textOf(companyId, id), variables);

const PERSON = `select p.* from (${subscriberOf("$1", "address_key($2)", "r.first_name, r.last_name, r.attributes")}) p`;

interface Person {
  first_name: string;
  last_name: string;
  attributes: Data;
}

/** What the subscriber has who has the address. */
async function valuesOf(companyId: string, email: string): Promise<Data> {
  const person = await queryOne<Person>(PERSON, [companyId, email]);
  return { ...person?.attributes, first_name: person?.first_name, last_name: person?.last_name, email };
}

/** Of a template with a subject of its own, or of a text that no template holds. */
export async function previewContent(companyId: string, given: PreviewContent): Promise<Shown> {
  const { template_id, subject, body = "", preheader = null, text_body = null, is_transactional, email } = given;
  const text = template_id
    ? await textOf(companyId, template_id)
    : { subject: "", body, preheader, textBody: text_body, isTransactional: false };
  const own = {
    ...text,
    ...(subject === undefined ? {} : { subject }),
    isTransactional: text.isTransactional || is_transactional === true,
  };
  const person = email === undefined ? {} : await valuesOf(companyId, email);
  return shown(companyId, own, { ...person, ...given.variables });
}
