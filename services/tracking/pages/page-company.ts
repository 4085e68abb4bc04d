/** What a page shows of the company in whose name it speaks. */
import { queryOne } from "../../../models/database/db.ts";
import { logoSource, type StoredBranding } from "../../lib/branding/branding.ts";
import { brandCss } from "../../lib/branding/palette.ts";
import { notFound } from "../../lib/errors.ts";

export interface PageCompany {
  name: string;
  website: string | null;
  footer_text: string;
  /** With what the page's policy has to allow for it. */
  logo?: { url: string; source: string } | undefined;
  /** Colours of its own, behind the page's. */
  css?: string | undefined;
  /** Where a reader asks for no language that there is a catalogue of. */
  language?: string | undefined;
}

interface Row {
  name: string;
  website: string | null;
  footer_text: string;
  branding: StoredBranding;
}

/** `given`: a branding that is tried, in place of the stored one. */
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
    // It becomes a link: an address of another kind would be a script's way in.
    website: website && /^https?:\/\//i.test(website) ? website : null,
    footer_text: branding.footer_text ?? company.footer_text,
    logo: source === undefined ? undefined : { url: new URL(branding.logo_url!).href, source },
    css: brandCss(branding),
    language: branding.language,
  };
}
