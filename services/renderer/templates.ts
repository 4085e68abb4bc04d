/** Templates as resources of the API. */
import type { LOCK, Transaction } from "sequelize";
import { sequelize } from "../../models/database/db.ts";
import { listModels } from "../../models/database/listing.ts";
import { Template } from "../../models/template.ts";
import type { Validate } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { isServiceError, notFound } from "../lib/errors.ts";
import type { ListQuery, Static } from "../lib/shapes.ts";
import { subjectErrors, textErrors } from "../lib/template/template-errors.ts";
import { Unrenderable } from "./content.ts";
import type { contract, EmailTemplate } from "./contract-templates.ts";
import { bodyFacts } from "./heavy.ts";
import { bodyErrorsAfter, concernsBody, htmlAfter, type Input } from "./template-content.ts";
import { templateWarnings } from "./warnings.ts";

type Contract = typeof contract;
type View = Static<typeof EmailTemplate>;
type Filters = ListQuery & { template_mode?: string; template_type?: string };

/** Syntax errors of all texts, at once. */
export const syntaxErrors: Validate<Contract["createTemplate"]> & Validate<Contract["updateTemplate"]> = async (
  ctx,
  isValid,
) => {
  const { params } = ctx;
  const fields = ["body", "template_mode", "inline_css"] as const;
  const changes: Input = Object.fromEntries(fields.filter(isValid).map((field) => [field, params[field]]));
  const errors = {
    subject: isValid("subject") ? subjectErrors(params.subject!) : [],
    preheader: isValid("preheader") ? subjectErrors(params.preheader ?? "") : [],
    text_body: isValid("text_body") ? textErrors(params.text_body ?? "") : [],
    body: concernsBody(changes)
      ? await bodyErrors(companyOf(ctx), "id" in params ? params.id : undefined, changes)
      : [],
  };
  return Object.fromEntries(Object.entries(errors).filter(([, sentences]) => sentences.length > 0));
};

/** What is not there is reported as 404 later. */
async function bodyErrors(companyId: string, id: string | undefined, changes: Input): Promise<string[]> {
  const before = id === undefined ? null : await Template.findOne({ where: { id, companyId } });
  return bodyErrorsAfter(companyId, before, changes);
}

const COLUMNS =
  "id, name, subject, body, preheader, text_body, inline_css, template_mode, template_type, created_at, updated_at";

export async function listTemplates(companyId: string, asked: Filters): Promise<{ count: number; results: View[] }> {
  const where = ["company_id = $1"];
  const values: unknown[] = [companyId];
  for (const field of ["template_mode", "template_type"] as const) {
    if (asked[field] !== undefined) where.push(`${field} = $${values.push(asked[field])}`);
  }
  const orderings = { name: "name", updated_at: "updated_at" };
  const listing = {
    from: "templates",
    columns: COLUMNS,
    where,
    values,
    id: "id",
    orderings,
    searchIn: ["name", "subject"],
  };
  const { count, results } = await listModels(Template, listing, asked);
  return { count, results: results.map((template) => template.view()) };
}

async function find(
  companyId: string,
  id: string,
  held: { transaction?: Transaction; lock?: LOCK } = {},
): Promise<Template> {
  const template = await Template.findOne({ where: { id, companyId }, ...held });
  if (!template) throw notFound();
  return template;
}

const attributes = (input: Input) => {
  const { name, subject, body, preheader, text_body, inline_css, template_mode, template_type } = input;
  const texts = { subject, body, preheader, textBody: text_body };
  return {
    name: name?.trim(),
    ...texts,
    inlineCss: inline_css,
    templateMode: template_mode,
    templateType: template_type,
  };
};

/** The template as it is now, and what should be known of it. */
async function saved(template: Template): Promise<View & { warnings: string[] }> {
  const { companyId, subject, preheader, textBody, templateType } = template;
  const body = template.html ?? template.body;
  const isTransactional = templateType === "transactional";
  const source = { subject, body, preheader, textBody, companyName: "", footerText: "", isTransactional };
  try {
    const facts = await bodyFacts(companyId, source);
    const described = { facts, htmlBytes: Buffer.byteLength(body), isTransactional };
    return { ...template.view(), warnings: await templateWarnings(companyId, described) };
  } catch (error) {
    // It is saved: an answer that says otherwise would be wrong.
    if (
      !(error instanceof Unrenderable) &&
      !isServiceError(error, "THROTTLED") &&
      !isServiceError(error, "UNAVAILABLE")
    ) {
      throw error;
    }
    return { ...template.view(), warnings: [] };
  }
}

type NewInput = Static<Contract["createTemplate"]["params"]>;

export async function createTemplate(companyId: string, input: NewInput): Promise<View & { warnings: string[] }> {
  const template = await Template.create({
    ...attributes(input),
    name: input.name.trim(),
    subject: input.subject,
    html: await htmlAfter(companyId, null, input),
    companyId,
  });
  return saved(template);
}

export const getTemplate = async (companyId: string, id: string): Promise<View> => (await find(companyId, id)).view();

export async function updateTemplate(
  companyId: string,
  id: string,
  input: Input,
): Promise<View & { warnings: string[] }> {
  const given = Object.fromEntries(Object.entries(attributes(input)).filter(([, value]) => value !== undefined));
  // Held, so that the HTML is made of the very body, mode and styles that it is stored with.
  const template = await sequelize().transaction(async (transaction) => {
    const held = await find(companyId, id, { transaction, lock: transaction.LOCK.NO_KEY_UPDATE });
    const html = concernsBody(input) ? { html: await htmlAfter(companyId, held, input) } : {};
    return held.update({ ...given, ...html }, { transaction });
  });
  return saved(template);
}

export async function removeTemplate(companyId: string, id: string): Promise<null> {
  if ((await Template.destroy({ where: { id, companyId } })) === 0) throw notFound();
  return null;
}
