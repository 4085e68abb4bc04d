/**
 * Bytes on their way between two nodes that are too many for a message: uploads, and large requests and answers. The
 * sender writes them as parts and passes the transfer's name; at most one part is in memory. They are removed after
 * use, and orphans of a node that died by a sweep.
 */
import { unavailable } from "../../services/lib/errors.ts";
import { firstIdAt, newId } from "../../services/lib/ids.ts";
import { query, queryOne } from "../database/db.ts";

/** PostgreSQL gives a part as a text of twice its length: a longer one would stay in memory until the next full garbage collection. */
const PART_BYTES = 48 * 1024;
/** Longer than any call that takes an upload. */
const KEPT_MS = 3_600_000;
/** Company id of transfers without a company. */
const NOBODY = "00000000-0000-0000-0000-000000000000";

export interface Transfer {
  id: string;
  companyId: string;
  /** Number of parts, so that a missing part is not taken for the end. */
  parts: number;
}

const INSERT = "insert into transfer_parts (transfer_id, no, company_id, data) values ($1, $2, $3, $4)";
const READ = "select data from transfer_parts where company_id = $1 and transfer_id = $2 and no = $3";
const DROP = "delete from transfer_parts where company_id = $1 and transfer_id = $2";
const PURGE = "delete from transfer_parts where transfer_id < $1";

type Chunks = AsyncIterable<Buffer | string> | Iterable<Buffer | string>;

async function* inParts(chunks: Chunks): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + PART_BYTES - size);
      waiting.push(piece);
      size += piece.length;
      at += piece.length;
      if (size < PART_BYTES) continue;
      yield Buffer.concat(waiting);
      waiting = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(waiting);
}

export async function dropTransfer({ companyId, id }: Pick<Transfer, "companyId" | "id">): Promise<void> {
  await query(DROP, [companyId, id]);
}

export async function storeTransfer(chunks: Chunks, companyId: string = NOBODY): Promise<Transfer> {
  const id = newId();
  let parts = 0;
  try {
    for await (const part of inParts(chunks)) await query(INSERT, [id, parts++, companyId, part]);
  } catch (error) {
    await dropTransfer({ companyId, id }).catch(() => {});
    throw error;
  }
  return { id, companyId, parts };
}

export async function* readTransfer({ companyId, id, parts }: Transfer): AsyncGenerator<Buffer> {
  for (let partNo = 0; partNo < parts; partNo++) {
    const part = await queryOne<{ data: Buffer }>(READ, [companyId, id, partNo]);
    if (!part) throw unavailable("The stored data no longer exists.");
    yield part.data;
  }
}

/** Removes orphans, of all companies. */
export async function purgeTransfers(nowMs = Date.now()): Promise<void> {
  await query(PURGE, [firstIdAt(nowMs - KEPT_MS)]);
}
