/**
 * Imports that go on behind their answer, and the errors of all. SQL, because a claim is one statement: of any number of
 * nodes one gets a row, for as long as it renews its lease. A row's result is written in the transaction of the merge, so
 * that a file is imported once, whoever dies when.
 */
import { newId } from "../../services/lib/ids.ts";
import { type Client, type Queryable, query, queryOne } from "../database/db.ts";

const KEPT = "created_at > now() - interval '24 hours'";
/** A node that dies with an import in hand keeps it this long. */
export const LEASE_SECONDS = 60;

/** An import of the foreground whose errors are kept. */
export const addImport = (companyId: string, id: string, bytes: number): Promise<unknown> =>
  query("insert into imports (id, company_id, bytes, bytes_read) values ($1, $2, $3, $3)", [id, companyId, bytes]);

export const addErrors = (companyId: string, importId: string, lines: string): Promise<unknown> =>
  query("insert into import_errors (id, company_id, import_id, lines) values ($1, $2, $3, $4)", [
    newId(),
    companyId,
    importId,
    lines,
  ]);

export async function dropErrors(companyId: string, importId: string): Promise<void> {
  await query("delete from import_errors where company_id = $1 and import_id = $2", [companyId, importId]);
}

export async function dropImport(companyId: string, id: string): Promise<void> {
  await query("delete from imports where company_id = $1 and id = $2", [companyId, id]);
}

export async function isImportKept(companyId: string, id: string): Promise<boolean> {
  const sql = `select from imports where company_id = $1 and id = $2 and ${KEPT}`;
  return Boolean(await queryOne(sql, [companyId, id]));
}

const NEXT_ERRORS = `
  select id, lines from import_errors where company_id = $1 and import_id = $2 and id > $3 order by id limit 1`;

export const errorsAfter = (companyId: string, importId: string, after: string, on?: Queryable) =>
  queryOne<{ id: string; lines: string }>(NEXT_ERRORS, [companyId, importId, after], on);

const DONE = `
  update imports set status = 'done', report = $3, bytes_read = bytes, next_attempt_at = null
  where company_id = $1 and id = $2 and status = 'running' and attempts = $4`;

/** False where another try has it by now: then nothing of this one may stay. */
export async function finishImport(
  client: Client | undefined,
  { companyId, id, attempts }: { companyId: string; id: string; attempts: number },
  report: object,
): Promise<boolean> {
  const values = [companyId, id, JSON.stringify(report), attempts];
  const sql = `with done as (${DONE} returning 1), gone as (
    delete from import_parts where company_id = $1 and import_id = $2 and exists (select from done))
    select exists (select from done) as done`;
  return (await queryOne<{ done: boolean }>(sql, values, client))!.done;
}

/** Some thousand at a time: each may have a gigabyte of parts. */
const PURGE = `
  delete from imports where id in (
    select id from imports where created_at < now() - interval '24 hours' and next_attempt_at is null
    order by created_at limit 100)`;

export async function purgeImports(): Promise<void> {
  await query(PURGE);
}
