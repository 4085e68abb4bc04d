/** Templates as resources of the API. */
import { listModels } from "../../models/database/listing.ts";
import { Template } from "../../models/template.ts";
import type { Validate } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { isServiceError, notFound } from "../lib/errors.ts";
import type { ListQuery, Static } from "../lib/shapes.ts";
import { bodyErrors, subjectErrors } from "../lib/template/template-errors.ts";
import { Unrenderable } from "./content.ts";
import type { contract, EmailTemplate } from "./contract-templates.ts";
import { bodyFacts } from "./heavy.ts";
import { templateWarnings } from "./warnings.ts";

type Contract = typeof contract;
type View = Static<typeof EmailTemplate>;
type Input = Static<Contract["createTemplate"]["params"]>;
type Filters = ListQuery & { template_mode?: string; template_type?: string };

/** Syntax errors of subject and body, both at once. */
export const syntaxErrors: Validate<Contract["createTemplate"]> & Validate<Contract["updateTemplate"]> = async (
  ctx,
  isValid,
) => {
  const subject = isValid("subject") ? subjectErrors(ctx.params.subject!) : [];
  const body = isValid("body") ? await bodyErrors(companyOf(ctx), ctx.params.body!) : [];
  return { ...(subject.length > 0 && { subject }), ...(body.length > 0 && { body }) };
};

const COLUMNS = "id, name, subject, body, template_mode, template_type, created_at, updated_at";

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

async function find(companyId: string, id: string): Promise<Template> {
  const template = await Template.findOne({ where: { id, companyId } });
  if (!template) throw notFound();
  return template;
}

const attributes = ({ name, subject, body, template_mode, template_type }: Partial<Input>) => ({
  name: name?.trim(),
  subject,
  body,
  templateMode: template_mode,
  templateType: template_type,
});

/** The template as it is now, and what should be known of it. */
async function saved(template: Template): Promise<View & { warnings: string[] }> {
  const { companyId, subject, body, templateType } = template;
  const isTransactional = templateType === "transactional";
  const source = { subject, body, companyName: "", footerText: "", isTransactional };
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

export async function createTemplate(companyId: string, input: Input): Promise<View & { warnings: string[] }> {
  const template = await Template.create({
    ...attributes(input),
    name: input.name.trim(),
    subject: input.subject,
    companyId,
  });
  return saved(template);
}

export const getTemplate = async (companyId: string, id: string): Promise<View> => (await find(companyId, id)).view();

export async function updateTemplate(
  companyId: string,
  id: string,
  input: Partial<Input>,
): Promise<View & { warnings: string[] }> {
  const template = await find(companyId, id);
  const given = Object.entries(attributes(input)).filter(([, value]) => value !== undefined);
  return saved(await template.update(Object.fromEntries(given)));
}

export async function removeTemplate(companyId: string, id: string): Promise<null> {
  if ((await Template.destroy({ where: { id, companyId } })) === 0) throw notFound();
  return null;
}
