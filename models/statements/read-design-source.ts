/** Reads what designs of a company refer to: its brand. Part of the models because templates and campaigns have designs. */
import { type BrandedCompany, brandOf } from "../../services/lib/branding/brand-of.ts";
import type { Source } from "../../services/lib/design/compile.ts";
import { queryOne } from "../database/db.ts";

const READ = "select name, footer_text, branding from companies where id = $1";

/** Returns undefined if the company was deleted. */
export async function readDesignSource(companyId: string): Promise<Source | undefined> {
  const company = await queryOne<BrandedCompany>(READ, [companyId]);
  return company && { brand: brandOf(company), saved: new Map() };
}
