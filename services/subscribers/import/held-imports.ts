/**
 * Held imports: files uploaded once, then inspected, tried and started by id. One statement decides who starts a file,
 * so that two concurrent starts import it once.
 */

import { query, queryOne } from "../../../models/database/db.ts";
import type { ImportStatus } from "../../../models/import.ts";
import { KEPT, MAX_RUNNING } from "../../../models/statements/imports.ts";
import type { Caller } from "../../lib/caller.ts";

/** Held files per company; each may have a gigabyte. */
const MAX_HELD = 5;

// Files being read are never removed, however many are held.
const IDLE = "company_id = $1 and held and status <> 'running'";

const GIVES_WAY = `
  delete from imports where ${IDLE} and id in (
    select id from imports where ${IDLE} order by greatest(created_at, started_at) desc, id desc offset ${MAX_HELD})`;

/** Marks the file as complete. Beyond MAX_HELD the oldest held file is removed. */
export async function holdImport(companyId: string, id: string): Promise<void> {
  await query("update imports set status = 'waiting' where company_id = $1 and id = $2", [companyId, id]);
  await query(GIVES_WAY, [companyId]);
}

/** Fields that each start sets, so that values of a trial do not apply to the import. */
const START_FIELDS = ["list_id", "mapping", "charset", "on_conflict", "dry_run", "date_order", "header"];

const START = `
  with started as (
    update imports set status = 'running', form = (form - $5::text[]) || $3::jsonb,
      caller = $4, report = null, error = null, bytes_read = 0, next_attempt_at = now(), started_at = now()
    where ${IDLE} and id = $2 and ${KEPT}
      and (select count(*) from imports where company_id = $1 and form is not null and status = 'running') < ${MAX_RUNNING}
    returning id),
  errors as (delete from import_errors where company_id = $1 and import_id in (select id from started))
  select id from started`;

/**
 * Returns false if the import is running, its file was deleted, or the company's limit of running imports is reached.
 */
export async function startHeldImport(
  companyId: string,
  id: string,
  { form, caller }: { form: object; caller: Caller },
): Promise<boolean> {
  const values = [companyId, id, JSON.stringify(form), JSON.stringify(caller), START_FIELDS];
  return Boolean(await queryOne(START, values));
}

/** False if it does not exist or is running. */
export async function removeImport(companyId: string, id: string): Promise<boolean> {
  const sql =
    "delete from imports where company_id = $1 and id = $2 and form is not null and status <> 'running' returning id";
  return Boolean(await queryOne(sql, [companyId, id]));
}

export interface ImportRow {
  id: string;
  status: ImportStatus;
  form: Record<string, unknown>;
  bytes: number;
  bytes_read: number;
  report: Record<string, unknown> | null;
  error: string | null;
  held: boolean;
  created_at: Date;
  kept_until: Date;
}

const COLUMNS = `id, status, form, bytes, bytes_read, report, error, held and status <> 'running' as held, created_at,
  greatest(created_at, started_at) + interval '24 hours' as kept_until`;

const SHOWN = `company_id = $1 and form is not null and ${KEPT}`;

export const findImport = (companyId: string, id: string): Promise<ImportRow | undefined> =>
  queryOne<ImportRow>(`select ${COLUMNS} from imports where ${SHOWN} and id = $2`, [companyId, id]);

/** Background imports of the company, newest first. */
export const IMPORT_LISTING = { from: "imports i", columns: COLUMNS, where: [SHOWN, "caller is not null"] };
