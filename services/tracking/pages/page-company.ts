/** What a page shows of the company in whose name it speaks. */
import { queryOne } from "../../../models/database/db.ts";
import { notFound } from "../../lib/errors.ts";

export interface PageCompany {
  name: string;
  website: string | null;
  footer_text: string;
}

export async function pageCompany(companyId: string): Promise<PageCompany> {
  const company = await queryOne<PageCompany>("select name, website, footer_text from companies where id = $1", [
    companyId,
  ]);
  if (!company) throw notFound();
  const { website } = company;
  // It becomes a link: an address of another kind would be a script's way in.
  return { ...company, website: website && /^https?:\/\//i.test(website) ? website : null };
}
