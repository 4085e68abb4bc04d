import { listPage } from "../../models/database/listing.ts";
import { Template } from "../../models/template.ts";
import type { Validate } from "../define.ts";
import { type FieldErrors, notFound } from "../lib/errors.ts";
import type { ListQuery, Static } from "../lib/shapes.ts";
import { compileTemplate } from "../lib/template/compile.ts";
import type { contract, EmailTemplate } from "./contract-templates.ts";

type Contract = typeof contract;
type View = Static<typeof EmailTemplate>;
type Input = Static<Contract["createTemplate"]["params"]>;
type Filters = ListQuery & { template_mode?: string; template_type?: string };

/** Syntax errors of subject and body, both told at once. */
export const syntaxErrors: Validate<Contract["createTemplate"]> & Validate<Contract["updateTemplate"]> = (
  ctx,
  isValid,
) => {
  const faults: FieldErrors = {};
  for (const field of ["subject", "body"] as const) {
    const { errors } = isValid(field) ? compileTemplate(ctx.params[field]!, field) : {};
    if (errors) faults[field] = errors;
  }
  return faults;
};

const columns = `id, name, subject, body, template_mode, template_type,
  to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
  to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated_at`;

export function listTemplates(companyId: string, asked: Filters): Promise<{ count: number; results: View[] }> {
  const where = ["company_id = $1"];
  const values: unknown[] = [companyId];
  for (const field of ["template_mode", "template_type"] as const) {
    if (asked[field] !== undefined) where.push(`${field} = $${values.push(asked[field])}`);
  }
  return listPage<View>(
    {
      from: "templates",
      columns,
      where,
      values,
      id: "id",
      orderings: { name: "name", updated_at: "updated_at" },
      searchIn: ["name", "subject"],
    },
    asked,
  );
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

export async function createTemplate(companyId: string, input: Input): Promise<View> {
  const template = await Template.create({
    ...attributes(input),
    name: input.name.trim(),
    subject: input.subject,
    companyId,
  });
  return template.view();
}

export const getTemplate = async (companyId: string, id: string): Promise<View> => (await find(companyId, id)).view();

export async function updateTemplate(companyId: string, id: string, input: Partial<Input>): Promise<View> {
  const template = await find(companyId, id);
  const given = Object.entries(attributes(input)).filter(([, value]) => value !== undefined);
  return (await template.update(Object.fromEntries(given))).view();
}

export async function removeTemplate(companyId: string, id: string): Promise<null> {
  if ((await Template.destroy({ where: { id, companyId } })) === 0) throw notFound();
  return null;
}
