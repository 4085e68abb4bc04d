/**
 * Reads what designs of a company refer to: its brand, and saved blocks. Part of the models because templates and
 * campaigns have designs.
 */
import { type BrandedCompany, brandOf } from "../../services/lib/branding/brand-of.ts";
import type { Source } from "../../services/lib/design/compile.ts";
import type { Block } from "../../services/lib/design/design.ts";
import { queryOne } from "../database/db.ts";

const READ = `
  select c.name, c.footer_text, c.branding,
    (select json_object_agg(b.id, b.blocks) from saved_blocks b where b.company_id = $1 and b.id = any($2)) as saved
  from companies c where c.id = $1`;

/** Undefined if the company is gone. */
export async function readDesignSource(companyId: string, savedIds: readonly string[]): Promise<Source | undefined> {
  type Row = BrandedCompany & { saved: Record<string, Block[]> | null };
  const row = await queryOne<Row>(READ, [companyId, savedIds]);
  return row && { brand: brandOf(row), saved: new Map(Object.entries(row.saved ?? {})) };
}
