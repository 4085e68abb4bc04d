/** Company data that a public page shows. */
import { queryOne } from "../../../models/database/db.ts";
import { logoSource, type StoredBranding } from "../../lib/branding/branding.ts";
import { brandCss } from "../../lib/branding/palette.ts";
import { notFound } from "../../lib/errors.ts";

export interface PageCompany {
  name: string;
  website: string | null;
  footer_text: string;
  /** Includes the origin that the page's policy must allow. */
  logo?: { url: string; source: string } | undefined;
  /** Company colours, after the page's own. */
  css?: string | undefined;
  /** Used if the reader accepts none of the available languages. */
  language?: string | undefined;
}

interface Row {
  name: string;
  website: string | null;
  footer_text: string;
  branding: StoredBranding;
}

/** `given` is a branding to preview instead of the stored one. */
export async function pageCompany(companyId: string, given?: StoredBranding): Promise<PageCompany> {
  const company = await queryOne<Row>("select name, website, footer_text, branding from companies where id = $1", [
    companyId,
  ]);
  if (!company) throw notFound();
  const { website } = company;
  const branding = given ?? company.branding;
  const source = branding.logo_url === undefined ? undefined : logoSource(branding.logo_url);
  return {
    name: branding.name ?? company.name,
    // Allows only http(s), because another scheme could run a script.
    website: website && /^https?:\/\//i.test(website) ? website : null,
    footer_text: branding.footer_text ?? company.footer_text,
    logo: source === undefined ? undefined : { url: new URL(branding.logo_url!).href, source },
    css: brandCss(branding),
    language: branding.language,
  };
}
