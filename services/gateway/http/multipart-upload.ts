/**
 * Spools an uploaded file to a temporary file, so that a slow client holds neither memory nor a transaction, and form
 * fields after the file are known before its first byte is used. The file is unlinked at once: its space is freed even
 * if the process crashes.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import busboy from "busboy";
import { badRequest, invalid } from "../../lib/errors.ts";
import type { WaitBudget } from "../../lib/owner.ts";
import { bodyTooLarge } from "./body-cost.ts";
import type { Context } from "./context.ts";
import type { Params } from "./params.ts";
import { hasBody, mediaTypeOf, refuseEncoded, tooSlow, unsupportedType } from "./request-body.ts";
import type { Reservation, UploadBudgets } from "./shared-budget.ts";

const FIELD = "file";
/** Fields that an action receives with the file's bytes. */
export const FILE_FIELDS = ["filename", "content_type", "size"];
const LIMITS = { files: 1, fields: 20, fieldSize: 64 * 1024, fieldNameSize: 200, parts: 25, headerPairs: 50 };
/** Bytes of form-data boundaries and small fields around the file. */
const FORM_BYTES = 2 * 1024 * 1024;
/** Large enough for few reads, and small compared to a process's memory. */
const READ_BYTES = 256 * 1024;
/**
 * Maximum wait for one of the company's other uploads to end, with the body unread. A refused client retries at once,
 * and each try costs the bytes that have already arrived.
 */
const MAX_WAIT_MS = 2_000;
/** Longest pause between two chunks of the body. */
const IDLE_MS = 30_000;

export interface Upload {
  params: Params;
  stream: NodeJS.ReadableStream;
}

interface Spooled {
  fields: Params;
  filename: string;
  contentType: string;
  size: number;
}

const noFile = () => invalid({ [FIELD]: ["No file was submitted."] });
const unreadable = (error: Error) => badRequest(`Multipart form parse error - ${error.message}`);

/** Browsers percent-encode these three characters, and no percent sign (HTML, multipart/form-data encoding). */
const ENCODED: Readonly<Record<string, string>> = { "%22": '"', "%0D": "\r", "%0A": "\n" };
const decodedName = (name = ""): string => name.replace(/%(?:22|0D|0A)/g, (code) => ENCODED[code]!);

function parserFor({ req }: Context, maxBytes: number): busboy.Busboy {
  try {
    // busboy treats a file of exactly fileSize bytes as too large.
    return busboy({ headers: req.headers, limits: { ...LIMITS, fileSize: maxBytes + 1 }, defParamCharset: "utf8" });
  } catch (error) {
    throw unreadable(error as Error);
  }
}

/** Limits the size of an upload and the disk space per owner. */
interface UploadSpace {
  maxBytes: number;
  budgets: UploadBudgets;
  owner: string;
  /** The remaining wait budget of the request. */
  budget: WaitBudget;
}

async function spool(context: Context, writer: FileHandle, maxBytes: number, space: Reservation): Promise<Spooled> {
  const { req } = context;
  const announced = Number(req.headers["content-length"] ?? 0);
  if (announced > maxBytes + FORM_BYTES) throw bodyTooLarge(maxBytes);
  // Refuses before the first byte is written instead of in the middle.
  space.reach(announced);
  let arrived = 0;
  const { promise: parsed, resolve, reject } = Promise.withResolvers<void>();
  const spooled: Spooled = { fields: {}, filename: "", contentType: "", size: -1 };
  const stop = new AbortController();
  let writing: Promise<void> | undefined;

  const parser = parserFor(context, maxBytes);
  parser.on("field", (name, value) => {
    if (name !== "__proto__") spooled.fields[name] = value;
  });
  parser.on("file", (name, file, { filename, mimeType }) => {
    if (name !== FIELD || writing) return void file.resume();
    Object.assign(spooled, { filename: decodedName(filename), contentType: mimeType });
    file.on("limit", () => reject(bodyTooLarge(maxBytes)));
    const out = writer.createWriteStream();
    writing = pipeline(file, out, { signal: stop.signal }).then(() => {
      spooled.size = out.bytesWritten;
    });
    writing.catch(reject);
  });
  parser.on("error", (error) => reject(unreadable(error as Error)));
  parser.on("close", resolve);

  const timer = setTimeout(() => reject(tooSlow()), IDLE_MS);
  const wait = (chunk: Buffer) => {
    timer.refresh();
    arrived += chunk.length;
    try {
      space.reach(arrived);
    } catch (error) {
      reject(error);
    }
  };
  // "close" also follows a normal end and can precede the last write of the file.
  const broken = () => {
    if (!req.complete) reject(unreadable(new Error("the request ended before its body did")));
  };
  // Not stream.pipeline: on a failure it would destroy the request and the connection, and the response with it.
  req.on("data", wait).on("close", broken).pipe(parser);
  // The client may have disconnected while the file was created; "close" is emitted only once.
  if (req.destroyed) broken();
  try {
    await parsed;
    await writing;
    return spooled;
  } finally {
    clearTimeout(timer);
    req.off("data", wait).off("close", broken).unpipe(parser);
    parser.destroy();
    stop.abort();
    await writing?.catch(() => {});
  }
}

interface TemporaryFile {
  writer: FileHandle;
  reader: FileHandle;
}

/** Opens an unlinked temporary file. Each end closes with its stream. */
async function openUnlinked(): Promise<TemporaryFile> {
  const path = join(tmpdir(), `flockmail-upload-${process.pid}-${randomUUID()}`);
  const writer = await open(path, "wx", 0o600);
  const reader = await open(path, "r");
  await unlink(path);
  return { writer, reader };
}

/** Runs `work` with the upload and removes the temporary file afterwards, whatever the outcome. */
export async function withUpload<T>(
  context: Context,
  { maxBytes, budgets, owner, budget }: UploadSpace,
  work: (upload: Upload) => Promise<T>,
): Promise<T> {
  if (!hasBody(context)) throw noFile();
  const mediaType = mediaTypeOf(context);
  if (mediaType !== "multipart/form-data") throw unsupportedType(mediaType);
  refuseEncoded(context);
  const release = await budgets.uploads.acquire(owner, { atMostMs: MAX_WAIT_MS, budget });
  const space = budgets.bytes.open(owner);
  let temporary: TemporaryFile | undefined;
  try {
    temporary = await openUnlinked();
    const { fields, filename, contentType, size } = await spool(context, temporary.writer, maxBytes, space);
    if (size < 0) throw noFile();
    if (size === 0) throw invalid({ [FIELD]: ["The submitted file is empty."] });
    const params = { ...fields, filename, content_type: contentType, size };
    const stream = temporary.reader.createReadStream({ highWaterMark: READ_BYTES });
    try {
      return await work({ params, stream });
    } finally {
      // Closes the file of an upload that was refused before it was read.
      stream.destroy();
    }
  } finally {
    await Promise.all([temporary?.writer.close(), temporary?.reader.close()]);
    space.release();
    release();
  }
}
