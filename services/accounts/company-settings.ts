/** Reads and changes a company's settings. */

import { ForeignKeyConstraintError } from "sequelize";
import { Company, type RetentionDays } from "../../models/company.ts";
import { sequelize } from "../../models/database/db.ts";
import { SmtpConfig } from "../../models/smtp-config.ts";
import { spellingsOf } from "../../models/statements/attribute-names.ts";
import { audit } from "../../models/statements/audit-log.ts";
import { noConfirmationServer } from "../../models/statements/confirmation-server.ts";
import { isZone } from "../../models/statements/time-zones.ts";
import { TrackingDomain } from "../../models/tracking-domain.ts";
import type { ParamsOf } from "../contracts.ts";
import type { Validate } from "../define.ts";
import { addressText } from "../lib/address.ts";
import { isAttributeName } from "../lib/attributes.ts";
import { type Ctx, knownRights } from "../lib/caller.ts";
import { type FieldErrors, invalid, missingObject, notFound } from "../lib/errors.ts";
import { requirePermission } from "../permissions.ts";
import { mergedBranding } from "./branding.ts";
import type { Company as CompanyView } from "./contract-account-shapes.ts";
import type { contract } from "./contract-company.ts";
import { mergeKeys } from "./merge-keys.ts";
import { ownCompany, requireCurrentRights } from "./permission.ts";
import { afterPatch, claimDomain, trackingDomainError } from "./tracking-domain/tracking-domain.ts";

export async function getCompany(ctx: Ctx<{ id: string }>): Promise<CompanyView> {
  const company = await Company.findByPk(ownCompany(ctx));
  if (!company) throw notFound();
  return company.view(await TrackingDomain.findByPk(company.id));
}

async function smtpConfigExists(companyId: string, id: string): Promise<boolean> {
  return (await SmtpConfig.findOne({ attributes: ["id"], where: { companyId, id } })) !== null;
}

/** Field names of the subscribe form itself, which attributes may not use. */
const OWN_FIELDS = new Set(["email", "first_name", "last_name", "list_id", "company_id", "redirect_url", "website"]);

/** Normalised host name as it appears in URLs; undefined if it is not a host. */
function hostOf(text: string): string | undefined {
  const address = `https://${text.trim()}`;
  if (/[/\\?#@%\s]/.test(text.trim()) || !URL.canParse(address)) return undefined;
  return new URL(address).host;
}

type FormSettings = Pick<ParamsOf<"accounts.updateCompany">, "form_attributes" | "form_hosts">;

function formErrors(
  { form_attributes, form_hosts }: FormSettings,
  isValid: (field: keyof FormSettings) => boolean,
): FieldErrors {
  const reserved = isValid("form_attributes") ? (form_attributes ?? []).filter((name) => OWN_FIELDS.has(name)) : [];
  const unusable = isValid("form_attributes") ? (form_attributes ?? []).filter((name) => !isAttributeName(name)) : [];
  const invalid = isValid("form_hosts") ? (form_hosts ?? []).filter((host) => !hostOf(host)) : [];
  return {
    ...(reserved.length + unusable.length > 0
      ? {
          form_attributes: [
            ...reserved.map((name) => `"${name}" is a field of every form.`),
            ...unusable.map((name) => `"${name}" is not a valid name.`),
          ],
        }
      : {}),
    ...(invalid.length > 0 ? { form_hosts: invalid.map((host) => `"${host}" is not a host.`) } : {}),
  };
}

/** Returns attribute names in the spelling that subscribers already use: `city` may become `City`. */
async function formAttributesOf(companyId: string, names: readonly string[]): Promise<string[]> {
  const spellings = await spellingsOf(companyId, names);
  const spelled = names.map((name) => {
    const spelling = spellings.get(name);
    return spelling === undefined || OWN_FIELDS.has(spelling) ? name : spelling;
  });
  return [...new Set(spelled)];
}

const formSettings = async (companyId: string, { form_attributes, form_hosts }: FormSettings) => ({
  formAttributes: form_attributes === undefined ? undefined : await formAttributesOf(companyId, form_attributes ?? []),
  formHosts: form_hosts === null ? [] : form_hosts && [...new Set(form_hosts.map((host) => hostOf(host)!))],
});

export const companyErrors: Validate<(typeof contract)["updateCompany"]> = async (ctx, isValid) => {
  // Check permission first: unauthorised callers must not see validation errors.
  const companyId = ownCompany(ctx);
  requirePermission("accounts.updateCompany", knownRights(ctx.meta));
  const errors: FieldErrors = {};
  const {
    website,
    default_smtp_config_id: smtp,
    double_opt_in,
    timezone,
    tracking_domain: trackingDomain,
  } = ctx.params;
  // The URL becomes a link on public pages: reject `javascript:` and similar schemes.
  if (isValid("website") && website && !/^https?:\/\//i.test(website)) errors.website = ["Enter a valid URL."];
  if (isValid("timezone") && timezone !== undefined && !(await isZone(timezone))) {
    errors.timezone = ["Enter the name of a time zone, such as Europe/Berlin."];
  }
  if (isValid("default_smtp_config_id") && smtp && !(await smtpConfigExists(companyId, smtp))) {
    errors.default_smtp_config_id = [missingObject(smtp)];
  }
  const domainError = isValid("tracking_domain") && trackingDomain ? trackingDomainError(trackingDomain) : undefined;
  if (domainError) errors.tracking_domain = [domainError];
  const noServer = double_opt_in === true ? await noConfirmationServer(companyId) : undefined;
  if (noServer) errors.double_opt_in = [noServer];
  return { ...errors, ...formErrors(ctx.params, isValid) };
};

/** Makes the next retention run check the company again. */
function mergedRetention({ retentionDays }: Company, { retention_days }: ParamsOf<"accounts.updateCompany">) {
  if (retention_days === undefined) return {};
  const merged = mergeKeys<RetentionDays>(retentionDays, retention_days, ["events", "sent_emails", "inbound"]);
  return { retentionDays: merged, retentionDoneAt: null };
}

const GUARD_KEYS = ["hard_bounce_percent", "complaint_percent", "after"] as const;

const mergedGuard = ({ guard: stored }: Company, { guard }: ParamsOf<"accounts.updateCompany">) =>
  guard === undefined ? {} : { guard: mergeKeys(stored, guard, GUARD_KEYS) };

export async function updateCompany(ctx: Ctx<ParamsOf<"accounts.updateCompany">>): Promise<CompanyView> {
  const { params } = ctx;
  const companyId = ownCompany(ctx);
  // Skip undefined fields: set() would store them as null.
  const changes = Object.entries({
    name: params.name?.trim(),
    replyToEmail: params.reply_to_email && addressText(params.reply_to_email),
    website: params.website,
    footerText: params.footer_text,
    doubleOptIn: params.double_opt_in,
    defaultSmtpConfigId: params.default_smtp_config_id,
    trackingEnabled: params.tracking_enabled,
    individualTracking: params.individual_tracking,
    requireAuthentication: params.require_authentication,
    timezone: params.timezone,
    ...(await formSettings(companyId, params)),
  }).filter(([, value]) => value !== undefined);
  try {
    await sequelize().transaction(async (transaction) => {
      await requireCurrentRights(ctx.meta, "accounts.updateCompany", transaction);
      const company = await Company.findByPk(companyId, { transaction, lock: true });
      if (!company) throw notFound();
      const merged = {
        ...mergedRetention(company, params),
        ...mergedGuard(company, params),
        ...mergedBranding(company, params),
      };
      await company.update({ ...Object.fromEntries(changes), ...merged }, { transaction });
      if (params.tracking_domain !== undefined) await claimDomain(companyId, params.tracking_domain, transaction);
      const { id: _, ...given } = params;
      const audited = { action: "company.updated", target: companyId, detail: { fields: Object.keys(given) } } as const;
      await audit(companyId, ctx.meta, audited, transaction);
    });
  } catch (error) {
    // The mail server was deleted after the check.
    if (!(error instanceof ForeignKeyConstraintError)) throw error;
    throw invalid({ default_smtp_config_id: [missingObject(params.default_smtp_config_id!)] });
  }
  await afterPatch(ctx, { companyId, isAsked: params.tracking_domain !== undefined }, (error) =>
    ctx.broker.logger.info({ companyId, error }, "Tracking domain check failed"),
  );
  return getCompany(ctx);
}
