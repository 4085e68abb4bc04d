/**
 * Manages background imports, and the errors of all imports. SQL, because each claim is one statement that gives a row
 * to a single node for as long as it renews its lease. The result is written in the merge's transaction, so that a file
 * is imported once even after a crash.
 */
import type { Caller } from "../../services/lib/caller.ts";
import { newId } from "../../services/lib/ids.ts";
import { type Client, type Queryable, query, queryOne } from "../database/db.ts";

/** Maximum running or waiting files of a company; each may have a gigabyte. */
export const MAX_RUNNING = 5;
export const KEPT = "greatest(created_at, started_at) > now() - interval '24 hours'";
/** Lease of an import: an import of a node that died is taken over after this time. */
export const LEASE_SECONDS = 60;

/** Stores a foreground import whose errors are kept. */
export const addImport = (companyId: string, id: string, bytes: number): Promise<unknown> =>
  query("insert into imports (id, company_id, bytes, bytes_read) values ($1, $2, $3, $3)", [id, companyId, bytes]);

const KEEP = `
  insert into imports (id, company_id, status, form, bytes, bytes_read, report) values ($2, $1, 'done', $3, $4, $4, $5)
  on conflict (company_id, id) do update set status = 'done', form = excluded.form, report = excluded.report`;

/** A foreground import, written with its rows. It has no caller; lists omit it for that. */
export const keepImport = (
  client: Client,
  companyId: string,
  { id, form, bytes, report }: { id: string; form: object; bytes: number; report: object },
): Promise<unknown> => query(KEEP, [companyId, id, JSON.stringify(form), bytes, JSON.stringify(report)], client);

/** Identifies an import and its attempt: 0 in the foreground. */
export interface OwnImport {
  companyId: string;
  id: string;
  attempts: number;
}

export const addErrors = ({ companyId, id, attempts }: OwnImport, lines: string): Promise<unknown> =>
  query("insert into import_errors (id, company_id, import_id, attempts, lines) values ($1, $2, $3, $4, $5)", [
    newId(),
    companyId,
    id,
    attempts,
    lines,
  ]);

export async function dropImport(companyId: string, id: string): Promise<void> {
  await query("delete from imports where company_id = $1 and id = $2", [companyId, id]);
}

export async function isImportKept(companyId: string, id: string): Promise<boolean> {
  const sql = `select from imports where company_id = $1 and id = $2 and ${KEPT}`;
  return Boolean(await queryOne(sql, [companyId, id]));
}

const NEXT_ERRORS = `
  select e.id, e.lines
  from imports i join import_errors e on e.company_id = i.company_id and e.import_id = i.id and e.attempts = i.attempts
  where i.company_id = $1 and i.id = $2 and e.id > $3 order by e.id limit 1`;

export const errorsAfter = (companyId: string, importId: string, after: string, client?: Queryable) =>
  queryOne<{ id: string; lines: string }>(NEXT_ERRORS, [companyId, importId, after], client);

// Keeps the file of a dry run for the import that follows.
const DONE = `
  update imports set status = 'done', report = $3, bytes_read = bytes, next_attempt_at = null,
    held = held and coalesce((form->>'dry_run')::boolean, false)
  where company_id = $1 and id = $2 and status = 'running' and attempts = $4`;

/** Returns false if another attempt has taken over: the result must then be rolled back. */
export async function finishImport(
  client: Client | undefined,
  { companyId, id, attempts }: OwnImport,
  report: object,
): Promise<boolean> {
  const values = [companyId, id, JSON.stringify(report), attempts];
  const sql = `with done as (${DONE} returning held), gone as (
    delete from import_parts where company_id = $1 and import_id = $2 and exists (select from done where not held))
    select exists (select from done) as done`;
  return (await queryOne<{ done: boolean }>(sql, values, client))!.done;
}

/** Deletes a few imports at a time: each may have a gigabyte of parts. */
const PURGE = `
  delete from imports where id in (
    select id from imports where created_at < now() - interval '24 hours' and not (${KEPT}) and next_attempt_at is null
    order by created_at limit 100)`;

export async function purgeImports(): Promise<void> {
  await query(PURGE);
}

/** A background import as held by its worker. */
export interface ImportTry extends OwnImport {
  form: Record<string, unknown>;
  caller: Caller;
}

const ADD_BACKGROUND = `
  insert into imports (id, company_id, form, caller, bytes, held)
  select $1, $2, $3, $4, $5, $6
  where (select count(*) from imports where company_id = $2 and form is not null and status = 'running') < ${MAX_RUNNING}
  returning id`;

/** Adds an import whose file is still to come. Returns false if the company has reached its limit. */
export async function addBackgroundImport(
  companyId: string,
  id: string,
  { form, caller, bytes, held = false }: { form: object; caller: Caller; bytes: number; held?: boolean },
): Promise<boolean> {
  const values = [id, companyId, JSON.stringify(form), JSON.stringify(caller), bytes, held];
  return Boolean(await queryOne(ADD_BACKGROUND, values));
}

export const addPart = (companyId: string, importId: string, no: number, data: Buffer): Promise<unknown> =>
  query("insert into import_parts (import_id, no, company_id, data) values ($1, $2, $3, $4)", [
    importId,
    no,
    companyId,
    data,
  ]);

/** Marks the file as complete. */
export const startImport = (companyId: string, id: string): Promise<unknown> =>
  query("update imports set next_attempt_at = now() where company_id = $1 and id = $2", [companyId, id]);

export async function readPart(companyId: string, importId: string, partNo: number): Promise<Buffer | undefined> {
  const sql = "select data from import_parts where company_id = $1 and import_id = $2 and no = $3";
  return (await queryOne<{ data: Buffer }>(sql, [companyId, importId, partNo]))?.data;
}

const LEASED_UNTIL = `now() + make_interval(secs => ${LEASE_SECONDS})`;

// The oldest import of any company without a running one: a company's files only wait for each other.
const CLAIM = `
  with due as (
    select i.id from imports i where i.next_attempt_at <= now() and not exists (
      select from imports o where o.company_id = i.company_id and o.status = 'running' and o.attempts > 0 and o.next_attempt_at > now())
    order by i.next_attempt_at limit 1 for update skip locked)
  update imports i set attempts = i.attempts + 1, next_attempt_at = ${LEASED_UNTIL}
  from due where i.id = due.id
  returning i.company_id as "companyId", i.id, i.attempts, i.form, i.caller`;

export const claimImport = (): Promise<ImportTry | undefined> => queryOne<ImportTry>(CLAIM);

const IN_HAND = "company_id = $1 and id = $2 and attempts = $3 and status = 'running'";

/** Returns false if another attempt has taken over. */
export async function renewImport({ companyId, id, attempts }: ImportTry, bytesRead: number): Promise<boolean> {
  const sql = `update imports set bytes_read = $4, next_attempt_at = ${LEASED_UNTIL} where ${IN_HAND} returning id`;
  return Boolean(await queryOne(sql, [companyId, id, attempts, bytesRead]));
}

export async function postponeImport({ companyId, id, attempts }: ImportTry, seconds: number): Promise<void> {
  const sql = `update imports set bytes_read = 0, next_attempt_at = now() + make_interval(secs => $4) where ${IN_HAND}`;
  await query(sql, [companyId, id, attempts, seconds]);
}

const FAIL = `
  with failed as (
    update imports set status = 'failed', error = $4, next_attempt_at = null where ${IN_HAND} returning id, held),
  errors as (delete from import_errors where company_id = $1 and import_id in (select id from failed))
  delete from import_parts where company_id = $1 and import_id in (select id from failed where not held)`;

export async function failImport({ companyId, id, attempts }: ImportTry, error: string): Promise<void> {
  await query(FAIL, [companyId, id, attempts, error]);
}
