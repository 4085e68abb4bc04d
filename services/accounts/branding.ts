/** Validates and merges changes of a company's branding. */
import type { Company } from "../../models/company.ts";
import type { ParamsOf } from "../contracts.ts";
import { BRANDING_KEYS, type Branding, brandingErrors, type StoredBranding } from "../lib/branding/branding.ts";
import { invalid } from "../lib/errors.ts";
import { mergeKeys } from "./merge-keys.ts";

/**
 * Merges a PATCH into the stored branding. Throws a 400 on `branding` if the resulting colours lack contrast. `stored`
 * must be locked: two concurrent changes could each be valid alone and unreadable together.
 */
export function mergedBranding({ branding: stored }: Company, { branding }: ParamsOf<"accounts.updateCompany">) {
  if (branding === undefined) return {};
  const given = branding && { ...branding, name: branding.name?.trim() ?? branding.name };
  const changed: StoredBranding = mergeKeys<Branding>(stored, given, BRANDING_KEYS);
  const errors = brandingErrors(changed);
  if (errors.length > 0) throw invalid({ branding: errors });
  return { branding: changed };
}
