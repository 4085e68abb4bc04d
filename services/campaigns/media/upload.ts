/**
 * Stores an upload part by part, outside of a transaction: a slow upload holds neither a connection nor more than one
 * part in memory. Its row is marked as deleted until it is complete, so that nobody sees it and the clean-up removes
 * what a crash leaves. The row has the full size from the beginning, so that concurrent uploads cannot exceed the
 * plan's limit together.
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
import { SNIFF_BYTES, sniff } from "../../lib/sniff.ts";
import { MAX_PIXELS } from "./copy-limits.ts";
import { declaredPixels } from "./declared-pixels.ts";

const PART_BYTES = 256 * 1024;
const MAX_FILENAME = 255;

/**
 * Control characters, and others without a shape: they reverse the reading direction ("fdp.exe" reads as "exe.pdf"), or
 * make different names look equal. Emoji and some scripts need the zero-width joiners, which stay.
 */
const UNSEEN = /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

export const cleanFolder = (given: string): string => given.toWellFormed().replace(UNSEEN, "").normalize("NFC").trim();

/** Makes a name safe in a path, a header and a dialog: a folder's rules, and no folders. */
export function cleanFilename(given: string): string {
  const name = cleanFolder(given.split(/[/\\]/).at(-1)!);
  if (name === "" || /^\.+$/.test(name)) return "file";
  if (name.length <= MAX_FILENAME) return name;
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  return `${name.slice(0, MAX_FILENAME - extension.length)}${extension}`.toWellFormed();
}

/**
 * Splits the stream into parts of PART_BYTES; the last may be shorter. Chunks of that size are passed on without
 * copying, which saves garbage collection.
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

/** Every fourth part is flushed, so that no commit has to write more than 1 MiB of a file. */
const PARTS_PER_FLUSH = 4;
/**
 * $4: whether the commit waits for the disk. Waiting for every part, or for none, delays the commits of other
 * companies. The row that makes the file visible always waits.
 */
const INSERT_PART = `
  insert into media_parts (media_id, no, data)
  select $1, $2, $3 from (select set_config('synchronous_commit', $4, true)) as s`;
/** Refuses images that would exhaust the memory of every browser that shows them. */
function requireFewPixels(part: Buffer, filename: string): void {
  if (declaredPixels(part, sniff(part.subarray(0, SNIFF_BYTES), filename)) <= MAX_PIXELS) return;
  throw invalid({ file: [`The image has more than ${MAX_PIXELS / 1_000_000} million pixels. Make it smaller.`] });
}

/** Writing parts of one company in parallel would not be faster. */
const parts = new ConcurrencyLimit({ perCompany: 1 });

async function storePart(companyId: string, id: string, { no, part }: { no: number; part: Buffer }): Promise<void> {
  const waitsForDisk = (no + 1) % PARTS_PER_FLUSH === 0;
  // An upload that has begun is never refused half-way.
  await parts.run(companyId, () => query(INSERT_PART, [id, no, part, waitsForDisk ? "on" : "off"]), { budget: {} });
}

interface Stored {
  size: number;
  sha256: Buffer;
  head: Buffer;
}

async function storeParts({ companyId, id, filename }: Media, stream: NodeJS.ReadableStream): Promise<Stored> {
  const { MAX_UPLOAD_BYTES } = config();
  const hash = createHash("sha256");
  let size = 0;
  let partNo = 0;
  let head: Buffer = Buffer.alloc(0);
  for await (const part of inParts(stream as AsyncIterable<Buffer>)) {
    size += part.length;
    if (size > MAX_UPLOAD_BYTES) throw tooLarge(`The file is larger than ${MAX_UPLOAD_BYTES} bytes.`);
    if (partNo === 0) {
      requireFewPixels(part, filename);
      head = Buffer.from(part.subarray(0, SNIFF_BYTES));
    }
    hash.update(part);
    await storePart(companyId, id, { no: partNo++, part });
  }
  if (size === 0) throw invalid({ file: ["The submitted file is empty."] });
  return { size, sha256: hash.digest(), head };
}

/** Storage limit of the plan in bytes; null is unlimited. */
export const mediaLimit = async (ctx: Ctx): Promise<number | null> =>
  (await call(ctx, "accounts.planOf", {})).limits.media_bytes;

const LOCK = "select pg_advisory_xact_lock(hashtextextended('media ' || $1, 0))";
const INSERT = `
  insert into media (id, company_id, filename, content_type, size, sha256, deleted_at, folder, alt, copy_of, copy_key)
  values ($1, $2, $3, '', $4, '', now(), $5, $6, $7, $8)`;

interface File {
  filename: string;
  /** Counted by the gateway. */
  size: number;
  folder?: string;
  alt?: string;
  copyOf?: string;
  copyKey?: string;
}

/** Reserves the row of a new file. */
async function reserveSpace(companyId: string, file: File, limit: number | null): Promise<Media> {
  const id = newId();
  const { filename, size, folder = "", alt = "", copyOf = null, copyKey = null } = file;
  await transaction(async (client) => {
    if (limit !== null) {
      await client.query(LOCK, [companyId]);
      if ((await mediaBytesOf(companyId, client)) + size > limit) throw mediaQuotaExceeded(limit);
    }
    await client.query(INSERT, [id, companyId, filename, size, cleanFolder(folder), alt.trim(), copyOf, copyKey]);
  });
  return (await Media.findOne({ where: { companyId, id } }))!;
}

export async function upload(companyId: string, limit: number | null, file: File, stream: NodeJS.ReadableStream) {
  const filename = cleanFilename(file.filename);
  const media = await reserveSpace(companyId, { ...file, filename }, limit);
  try {
    const { size, sha256, head } = await storeParts(media, stream);
    await media.update({ deletedAt: null, contentType: sniff(head, filename), size, sha256 });
    return media.view();
  } catch (error) {
    await media.destroy();
    throw error;
  }
}
