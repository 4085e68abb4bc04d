/** Templates as resources of the API. */
import type { LOCK, Transaction } from "sequelize";
import { sequelize } from "../../models/database/db.ts";
import { listModels } from "../../models/database/listing.ts";
import { contentOf, keepUnkept, keepVersion } from "../../models/statements/template-versions.ts";
import { Template } from "../../models/template.ts";
import { type Caller, type Ctx, companyOf } from "../lib/caller.ts";
import { type FieldErrors, isServiceError, notFound } from "../lib/errors.ts";
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
export const syntaxErrors = async (
  ctx: Ctx<{ subject?: string; body?: string }>,
  isValid: (field: "subject" | "body") => boolean,
): Promise<FieldErrors> => {
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

async function find(
  companyId: string,
  id: string,
  held: { transaction?: Transaction; lock?: LOCK } = {},
): Promise<Template> {
  const template = await Template.findOne({ where: { id, companyId }, ...held });
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

/** Holds the template's row, so that saves at the same time come one after the other, each with its version. */
const change = (
  companyId: string,
  id: string,
  caller: Caller,
  attributesOf: (template: Template, transaction: Transaction) => Promise<Partial<Template>>,
): Promise<Template> =>
  sequelize().transaction(async (transaction) => {
    const template = await find(companyId, id, { transaction, lock: transaction.LOCK.NO_KEY_UPDATE });
    await keepUnkept(template, transaction);
    await template.update(await attributesOf(template, transaction), { transaction });
    await keepVersion(template, caller, transaction);
    return template;
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

export async function createTemplate(
  companyId: string,
  input: Input,
  caller: Caller,
): Promise<View & { warnings: string[] }> {
  const made = { ...attributes(input), name: input.name.trim(), subject: input.subject, companyId };
  const template = await sequelize().transaction(async (transaction) => {
    const template = await Template.create(made, { transaction });
    await keepVersion(template, caller, transaction);
    return template;
  });
  return saved(template);
}

export const getTemplate = async (companyId: string, id: string): Promise<View> => (await find(companyId, id)).view();

export async function updateTemplate(
  companyId: string,
  id: string,
  input: Partial<Input>,
  caller: Caller,
): Promise<View & { warnings: string[] }> {
  const given = Object.entries(attributes(input)).filter(([, value]) => value !== undefined);
  return saved(await change(companyId, id, caller, async () => Object.fromEntries(given)));
}

/** All content as that version has it, as a version of its own. */
export async function restoreVersion(
  companyId: string,
  id: string,
  version: number,
  caller: Caller,
): Promise<View & { warnings: string[] }> {
  return saved(
    await change(companyId, id, caller, async (template, transaction) => {
      const content = await contentOf(template, version, transaction);
      if (!content) throw notFound();
      return content;
    }),
  );
}

export async function removeTemplate(companyId: string, id: string): Promise<null> {
  if ((await Template.destroy({ where: { id, companyId } })) === 0) throw notFound();
  return null;
}
