/** Templates as resources of the API. */
import type { LOCK, Transaction } from "sequelize";
import { sequelize } from "../../models/database/db.ts";
import { isOneOf, listModels, type Page } from "../../models/database/listing.ts";
import { Template } from "../../models/template.ts";
import type { Validate } from "../define.ts";
import { type Caller, companyOf } from "../lib/caller.ts";
import { conflict, type FieldErrors, isServiceError, notFound } from "../lib/errors.ts";
import type { Static } from "../lib/shapes.ts";
import { subjectErrors, textErrors } from "../lib/template/template-errors.ts";
import { Unrenderable } from "./content.ts";
import type { contract, EmailTemplate } from "./contract-templates.ts";
import { bodyFacts } from "./heavy.ts";
import { concernsBody, contentAfter, contentErrors, type Input, replacementWarnings } from "./template-content.ts";
import { contentOf, storeMissingVersion, storeVersion } from "./version-rows.ts";
import { templateWarnings } from "./warnings.ts";

type Contract = typeof contract;
type View = Static<typeof EmailTemplate>;
type NewInput = Static<Contract["createTemplate"]["params"]>;
type Filters = Static<Contract["listTemplates"]["params"]>;

/** Syntax errors of all texts, at once. */
export const syntaxErrors: Validate<Contract["createTemplate"]> &
  Validate<Contract["updateTemplate"]> &
  Validate<Contract["previewContent"]> = async (ctx, isValid) => {
  const { params } = ctx;
  const fields = ["body", "design", "markdown", "template_mode", "inline_css"] as const;
  const changes: Input = Object.fromEntries(fields.filter(isValid).map((field) => [field, params[field]]));
  const errors = {
    subject: isValid("subject") ? subjectErrors(params.subject!) : [],
    preheader: isValid("preheader") ? subjectErrors(params.preheader ?? "") : [],
    text_body: isValid("text_body") ? textErrors(params.text_body ?? "") : [],
    ...(concernsBody(changes)
      ? await errorsOfContent(companyOf(ctx), "id" in params ? params.id : undefined, changes)
      : {}),
  };
  return Object.fromEntries(Object.entries(errors).filter(([, sentences]) => sentences.length > 0));
};

/** A missing template is reported as 404 later. */
async function errorsOfContent(companyId: string, id: string | undefined, changes: Input): Promise<FieldErrors> {
  const before = id === undefined ? null : await Template.findOne({ where: { id, companyId } });
  return contentErrors(companyId, before, changes);
}

const COLUMNS =
  "id, name, subject, body, preheader, text_body, inline_css, template_mode, template_type, created_at, updated_at";

export async function listTemplates(companyId: string, asked: Filters): Promise<Page<View>> {
  const where = ["company_id = $1"];
  const values: unknown[] = [companyId];
  for (const field of ["template_mode", "template_type"] as const) {
    if (asked[field] !== undefined) where.push(isOneOf(field, asked[field], values));
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
  const { results, ...page } = await listModels(Template, listing, asked);
  return { ...page, results: results.map((template) => template.view()) };
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

const SAVED_SINCE = "The template was saved in the meantime. Load it again before changing it.";

/** Holds the template's row, so that saves at the same time come one after the other, each with its version. */
export const change = (
  companyId: string,
  id: string,
  caller: Caller,
  attributesOf: (template: Template, transaction: Transaction) => Promise<Partial<Template>>,
): Promise<Template> =>
  sequelize().transaction(async (transaction) => {
    const template = await find(companyId, id, { transaction, lock: transaction.LOCK.NO_KEY_UPDATE });
    await storeMissingVersion(template, transaction);
    await template.update(await attributesOf(template, transaction), { transaction });
    await storeVersion(template, caller, transaction);
    return template;
  });

/** The current template with its warnings. */
async function saved(template: Template, ofSave: string[] = []): Promise<View & { warnings: string[] }> {
  const { companyId, subject, preheader, templateType } = template;
  const textBody = template.textToSend();
  const body = template.html ?? template.body;
  const isTransactional = templateType === "transactional";
  const source = { subject, body, preheader, textBody, companyName: "", footerText: "", isTransactional };
  try {
    const facts = await bodyFacts(companyId, source);
    const described = { facts, htmlBytes: Buffer.byteLength(body), isTransactional };
    return { ...template.view(), warnings: [...ofSave, ...(await templateWarnings(companyId, described))] };
  } catch (error) {
    // Ignored, because the template was saved: an error response would be wrong.
    if (
      !(error instanceof Unrenderable) &&
      !isServiceError(error, "THROTTLED") &&
      !isServiceError(error, "UNAVAILABLE")
    ) {
      throw error;
    }
    return { ...template.view(), warnings: ofSave };
  }
}

export async function createTemplate(
  companyId: string,
  input: NewInput,
  caller: Caller,
): Promise<View & { warnings: string[] }> {
  const made = {
    ...attributes(input),
    name: input.name.trim(),
    subject: input.subject,
    ...(await contentAfter(companyId, null, input)),
    companyId,
  };
  const template = await sequelize().transaction(async (transaction) => {
    const template = await Template.create(made, { transaction });
    await storeVersion(template, caller, transaction);
    return template;
  });
  return saved(template);
}

export const getTemplate = async (companyId: string, id: string): Promise<View> => (await find(companyId, id)).view();

export async function updateTemplate(
  companyId: string,
  id: string,
  { unchanged_since, ...input }: Input & { unchanged_since?: string },
  caller: Caller,
): Promise<View & { warnings: string[] }> {
  const given = Object.fromEntries(Object.entries(attributes(input)).filter(([, value]) => value !== undefined));
  let warnings: string[] = [];
  // Locked, so that the HTML is made from exactly the stored body, mode and styles.
  const template = await change(companyId, id, caller, async (held) => {
    if (unchanged_since !== undefined && held.updatedAt > new Date(unchanged_since)) throw conflict(SAVED_SINCE);
    warnings = replacementWarnings(held, input);
    return { ...given, ...(concernsBody(input) ? await contentAfter(companyId, held, input) : {}) };
  });
  return saved(template, warnings);
}

/** Restores the content of a version, and stores it as a new version. */
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
