/** Changes of a company's branding. */
import type { Company } from "../../models/company.ts";
import type { ParamsOf } from "../contracts.ts";
import { type Branding, brandingErrors, type StoredBranding } from "../lib/branding/branding.ts";
import { invalid } from "../lib/errors.ts";
import { mergeKeys } from "./merge-keys.ts";

const KEYS = ["name", "logo_url", "color", "background", "footer_text", "language"] as const;

/**
 * What is written for a PATCH. Both colours are compared as they would be afterwards, so `stored` must be locked: two changes at once
 * could each be readable with what the other one replaces. Throws a 400 on `branding`.
 */
export function mergedBranding({ branding: stored }: Company, { branding }: ParamsOf<"accounts.updateCompany">) {
  if (branding === undefined) return {};
  const given = branding && { ...branding, name: branding.name?.trim() ?? branding.name };
  const changed: StoredBranding = mergeKeys<Branding>(stored, given, KEYS);
  const errors = brandingErrors(changed);
  if (errors.length > 0) throw invalid({ branding: errors });
  return { branding: changed };
}
