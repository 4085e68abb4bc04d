/**
 * Undoes an import: deletes people whom it created and who have only what it gave them. People who were edited, were
 * sent to, or are on other lists stay. Works in slices and can be repeated at any time.
 */
import { type Client, query, queryOne, transaction } from "../../../models/database/db.ts";
import type { ImportStatus } from "../../../models/import.ts";
import { removeSubscribers } from "../../../models/statements/remove-subscribers.ts";
import { notFound, wrongState } from "../../lib/errors.ts";
import { idTime } from "../../lib/ids.ts";

const UNDO_DAYS = 7;
const SLICE = 2_500;
/** Limits the response time; `remaining` tells whether to call again. */
const MAX_MS = 20_000;

// An import writes a person and their membership in one transaction, so their times are equal.
const UNTOUCHED = `
  s.company_id = $1 and s.import_id = $2 and s.updated_at = s.created_at
  and not exists (select from sent_emails e where e.subscriber_id = s.id)
  and not exists (select from list_wishes w where w.company_id = s.company_id and w.subscriber_id = s.id)
  and not exists (
    select from list_members m where m.company_id = s.company_id and m.subscriber_id = s.id
      and (m.created_at <> s.created_at or m.left_at is not null))`;

const NEXT = `select s.id from subscribers s where ${UNTOUCHED} limit ${SLICE} for update`;
const LEFT = `
  select count(*)::integer as all, (count(*) filter (where ${UNTOUCHED}))::integer as untouched
  from subscribers s where s.company_id = $1 and s.import_id = $2`;
const STATUS = "select status from imports where company_id = $1 and id = $2";

const LOCK_ADDRESSES = "select lock_addresses($1)";
const STILL = `select s.id from subscribers s where ${UNTOUCHED} and s.id = any($3::uuid[])`;

interface Slice {
  /** Number of candidates; 0 means done. */
  found: number;
  deleted: number;
}

/** Checks again after locking: the first statement does not see concurrent campaigns and list changes. */
async function removeSome(client: Client, companyId: string, importId: string): Promise<Slice> {
  const found = await query<{ id: string }>(NEXT, [companyId, importId], client);
  await query(LOCK_ADDRESSES, [companyId], client);
  const still = await query<{ id: string }>(STILL, [companyId, importId, found.map(({ id }) => id)], client);
  const ids = still.map(({ id }) => id);
  return { found: found.length, deleted: await removeSubscribers(companyId, ids, client) };
}

interface Undone {
  deleted: number;
  /** People of the import who stay. */
  kept: number;
  /** People who can still be deleted by calling again. */
  remaining: number;
}

export async function undoImport(companyId: string, importId: string): Promise<Undone> {
  const countLeft = async () => (await queryOne<{ all: number; untouched: number }>(LEFT, [companyId, importId]))!;
  const before = await countLeft();
  const row = await queryOne<{ status: ImportStatus }>(STATUS, [companyId, importId]);
  if (before.all === 0 && !row) throw notFound();
  if (row?.status === "running") throw wrongState("The import is still running. Undo it when it is done.");
  if (Date.now() - idTime(importId) > UNDO_DAYS * 86_400_000) {
    throw wrongState(`An import can be undone for ${UNDO_DAYS} days.`);
  }
  const endMs = Date.now() + MAX_MS;
  let deleted = 0;
  for (let found = SLICE; found > 0 && Date.now() < endMs; ) {
    const slice = await transaction((client) => removeSome(client, companyId, importId));
    found = slice.found;
    deleted += slice.deleted;
  }
  const { all, untouched } = await countLeft();
  return { deleted, kept: all - untouched, remaining: untouched };
}
