/** Changes of a company's branding. */
import type { Company } from "../../models/company.ts";
import type { ParamsOf } from "../contracts.ts";
import { type Branding, brandingErrors, type StoredBranding } from "../lib/branding/branding.ts";
import { invalid } from "../lib/errors.ts";

const isSet = (entry: [string, string | null | undefined]): entry is [keyof Branding, string] =>
  entry[1] !== null && entry[1] !== undefined;

function merged(stored: StoredBranding, given: NonNullable<ParamsOf<"accounts.updateCompany">["branding"]>) {
  // The other keys of what was sent are nobody's.
  const { name, logo_url, color, background, footer_text, language } = given;
  const known = { name: name?.trim() ?? name, logo_url, color, background, footer_text, language };
  const named = Object.entries(known).filter(([, value]) => value !== undefined);
  return Object.fromEntries(Object.entries({ ...stored, ...Object.fromEntries(named) }).filter(isSet));
}

/**
 * What is written for a PATCH. Both colours are compared as they would be afterwards, so `stored` must be locked: two changes at once
 * could each be readable with what the other one replaces. Throws a 400 on `branding`.
 */
export function mergedBranding({ branding: stored }: Company, { branding }: ParamsOf<"accounts.updateCompany">) {
  if (branding === undefined) return {};
  const changed: StoredBranding = branding === null ? {} : merged(stored, branding);
  const errors = brandingErrors(changed);
  if (errors.length > 0) throw invalid({ branding: errors });
  return { branding: changed };
}
