/**
 * An upload is written part by part, outside of a transaction: however slowly it arrives, it holds no connection and no
 * more than one part in memory. Until it is complete its row is marked as deleted, so that nobody sees it, and what a
 * crash leaves behind is removed like any other deleted file. The row has its size from the beginning: room in the plan is
 * taken before the first byte is stored, and so that two uploads, on whatever nodes, never both take the last of it.
 */
import { createHash } from "node:crypto";
import { query, transaction } from "../../../models/database/db.ts";
import { Media } from "../../../models/media.ts";
import { mediaBytesOf } from "../../../models/statements/plan-usage.ts";
import { call } from "../../call.ts";
import type { Ctx } from "../../lib/caller.ts";
import { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { config } from "../../lib/config.ts";
import { invalid, mediaQuotaExceeded, tooLarge } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { SNIFF_BYTES, sniff } from "./sniff.ts";

const PART_BYTES = 256 * 1024;
const MAX_FILENAME = 255;

/**
 * A name that is safe in a path, a header and a dialog: no folders, no control characters, nothing that reverses
 * the reading direction (which makes "fdp.exe" read as "exe.pdf").
 */
export function cleanFilename(given: string): string {
  const name = given
    .toWellFormed()
    .split(/[/\\]/)
    .at(-1)!
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu, "")
    .normalize("NFC")
    .trim();
  if (name === "" || /^\.+$/.test(name)) return "file";
  if (name.length <= MAX_FILENAME) return name;
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  return `${name.slice(0, MAX_FILENAME - extension.length)}${extension}`.toWellFormed();
}

/**
 * The stream in pieces of PART_BYTES; the last one may be shorter. On this node it comes in such pieces, and those are not
 * copied: each copy brings the next garbage collection closer, and its threads take the cores of everybody.
 */
async function* inParts(stream: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const piece of stream) {
    const bytes = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
    waiting.push(bytes);
    size += bytes.length;
    if (size < PART_BYTES) continue;
    const joined = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting);
    let at = 0;
    for (; at + PART_BYTES <= size; at += PART_BYTES) yield joined.subarray(at, at + PART_BYTES);
    waiting = at < size ? [joined.subarray(at)] : [];
    size -= at;
  }
  if (size > 0) yield Buffer.concat(waiting);
}

/** Of a file's parts each fourth, so that no commit finds more than 1 MiB of it that the disk does not have. */
const PARTS_PER_FLUSH = 4;
/**
 * $4: whether its commit waits for the disk. A file of 5 MB has 20 parts: if each waited, other companies' commits stood behind
 * the writing of each; if none did, behind that of all. What makes the file visible, its row, waits in any case.
 */
const INSERT_PART = `
  insert into media_parts (media_id, no, data)
  select $1, $2, $3 from (select set_config('synchronous_commit', $4, true)) as s`;
/** The disk writes a company's parts one after the other anyhow. */
const parts = new ConcurrencyLimit({ perCompany: 1 });

async function storePart(companyId: string, id: string, { no, part }: { no: number; part: Buffer }): Promise<void> {
  const waitsForDisk = (no + 1) % PARTS_PER_FLUSH === 0;
  // An upload that has begun is not refused half-way, however many the company has.
  await parts.run(companyId, () => query(INSERT_PART, [id, no, part, waitsForDisk ? "on" : "off"]), { budget: {} });
}

interface Stored {
  size: number;
  sha256: Buffer;
  head: Buffer;
}

async function storeParts(companyId: string, id: string, stream: NodeJS.ReadableStream): Promise<Stored> {
  const { MAX_UPLOAD_BYTES } = config();
  const hash = createHash("sha256");
  let size = 0;
  let no = 0;
  let head: Buffer = Buffer.alloc(0);
  for await (const part of inParts(stream as AsyncIterable<Buffer>)) {
    size += part.length;
    if (size > MAX_UPLOAD_BYTES) throw tooLarge(`The file is larger than ${MAX_UPLOAD_BYTES} bytes.`);
    if (no === 0) head = Buffer.from(part.subarray(0, SNIFF_BYTES));
    hash.update(part);
    await storePart(companyId, id, { no: no++, part });
  }
  if (size === 0) throw invalid({ file: ["The submitted file is empty."] });
  return { size, sha256: hash.digest(), head };
}

/** Bytes of files that the plan allows; null is unlimited. */
export const mediaLimit = async (ctx: Ctx): Promise<number | null> =>
  (await call(ctx, "accounts.planOf", {})).limits.media_bytes;

const LOCK = "select pg_advisory_xact_lock(hashtextextended('media ' || $1, 0))";
const INSERT = `
  insert into media (id, company_id, filename, content_type, size, sha256, deleted_at) values ($1, $2, $3, '', $4, '', now())`;

interface File {
  companyId: string;
  filename: string;
  size: number;
}

/** The row of a file that is to come. */
async function takeRoom({ companyId, filename, size }: File, limit: number | null): Promise<Media> {
  const id = newId();
  await transaction(async (client) => {
    if (limit !== null) {
      await client.query(LOCK, [companyId]);
      if ((await mediaBytesOf(companyId, client)) + size > limit) throw mediaQuotaExceeded(limit);
    }
    await client.query(INSERT, [id, companyId, filename, size]);
  });
  return (await Media.findOne({ where: { companyId, id } }))!;
}

/** `file.size`: how many bytes will come, which the gateway has counted. */
export async function upload(
  companyId: string,
  limit: number | null,
  file: { filename: string; size: number },
  stream: NodeJS.ReadableStream,
) {
  const filename = cleanFilename(file.filename);
  const media = await takeRoom({ companyId, filename, size: file.size }, limit);
  try {
    const { size, sha256, head } = await storeParts(companyId, media.id, stream);
    await media.update({ deletedAt: null, contentType: sniff(head, filename), size, sha256 });
    return media.view();
  } catch (error) {
    await media.destroy();
    throw error;
  }
}
