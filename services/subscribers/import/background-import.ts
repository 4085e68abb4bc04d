/**
 * Background imports. The file is stored in parts first, so that any node can continue if another one dies; the result
 * is written with the rows, so that a file is imported once.
 */

import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import { auditWithin } from "../../../models/statements/audit-log.ts";
import {
  addBackgroundImport,
  addPart,
  claimImport,
  dropImport,
  failImport,
  finishImport,
  type ImportTry,
  postponeImport,
  readPart,
  renewImport,
  startImport,
} from "../../../models/statements/imports.ts";
import { type Caller, type Ctx, companyOf } from "../../lib/caller.ts";
import { isServiceError, throttled } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { subscriberLimit } from "../subscriber-limit.ts";
import { fileError } from "./decode-text.ts";
import { type ImportForm, jobOf } from "./import-request.ts";
import { importSubscribers } from "./import-subscribers.ts";

const PART_BYTES = 1024 * 1024;
const RETRY_SECONDS = 60;

async function storeFile(companyId: string, importId: string, stream: AsyncIterable<Buffer>): Promise<void> {
  let waiting: Buffer[] = [];
  let size = 0;
  let partNo = 0;
  const store = async () => {
    await addPart(companyId, importId, partNo++, Buffer.concat(waiting));
    waiting = [];
    size = 0;
  };
  for await (const piece of stream) {
    waiting.push(Buffer.from(piece));
    size += piece.length;
    if (size >= PART_BYTES) await store();
  }
  if (size > 0) await store();
}

/** Caller that the audit log records. */
export function importerOf(ctx: Ctx): Caller {
  const { userId, apiKeyId, ip } = ctx.meta;
  return {
    companyId: companyOf(ctx),
    ...(userId ? { userId } : {}),
    ...(apiKeyId ? { apiKeyId } : {}),
    ...(ip ? { ip } : {}),
  };
}

export const tooManyImports = () => throttled(RETRY_SECONDS);

interface ToStore {
  form: object;
  bytes: number;
  held?: boolean;
  /** Called once the file is complete. */
  complete: (companyId: string, id: string) => Promise<unknown>;
}

/** Stores the file of the call's stream and returns the import's id. */
export async function storeImport(ctx: Ctx, { complete, ...given }: ToStore): Promise<string> {
  if (!ctx.stream) throw fileError("No file was submitted.");
  const companyId = companyOf(ctx);
  const id = newId();
  if (!(await addBackgroundImport(companyId, id, { ...given, caller: importerOf(ctx) }))) throw tooManyImports();
  try {
    await storeFile(companyId, id, ctx.stream as unknown as AsyncIterable<Buffer>);
    await complete(companyId, id);
  } catch (error) {
    await dropImport(companyId, id);
    throw error;
  }
  return id;
}

/** Answers once the file is stored; from then on it is imported even if this node dies. */
export async function beginImport(ctx: Ctx<ImportForm>): Promise<{ import_id: string }> {
  const { background: _, ...form } = ctx.params;
  const { size = 0 } = form;
  return { import_id: await storeImport(ctx, { form, bytes: size, complete: startImport }) };
}

const CONCURRENCY = 2;
const IDLE_MS = 500;
const RENEW_MS = 1_000;
const MAX_ATTEMPTS = 20;

class Interrupted extends Error {}

interface Progress {
  bytes: number;
  /** Another node has the import, or this one is stopping. */
  isOver: () => boolean;
}

async function* partsOf({ companyId, id }: ImportTry, progress: Progress): AsyncGenerator<Buffer> {
  for (let partNo = 0; ; partNo++) {
    if (progress.isOver()) throw new Interrupted("The import goes on elsewhere, or later");
    const part = await readPart(companyId, id, partNo);
    if (!part) return;
    progress.bytes += part.length;
    yield part;
  }
}

async function carryOut(ctx: Ctx, mine: ImportTry, progress: Progress): Promise<void> {
  const { companyId, caller } = mine;
  const form = mine.form as ImportForm;
  await importSubscribers(Readable.from(partsOf(mine, progress), { objectMode: false }), {
    ...jobOf(form),
    companyId,
    limit: await subscriberLimit(ctx, companyId),
    own: mine,
    async finish(client, report) {
      const { total, created, updated, skipped } = report;
      const audited = { target: form.list_id ?? null, detail: { total, created, updated, skipped } };
      if (!form.dry_run) await auditWithin(client, companyId, caller, { action: "subscribers.imported", ...audited });
      if (!(await finishImport(client, mine, report))) throw new Interrupted("Another node has the import");
    },
  });
}

/** Returns the error for the user if a retry would fail in the same way (file or plan); else undefined. */
function verdictOn(error: unknown): string | undefined {
  if (!isServiceError(error) || error.code === "THROTTLED" || error.code === "UNAVAILABLE") return undefined;
  return isServiceError(error, "INVALID") ? (error.data.fields.file ?? [error.message])[0] : error.message;
}

async function tryOne(ctx: Ctx, mine: ImportTry): Promise<void> {
  const { broker } = ctx;
  let isLeaseLost = false;
  const progress: Progress = { bytes: 0, isOver: () => isLeaseLost || broker.stopping };
  const renewing = setInterval(() => {
    renewImport(mine, progress.bytes).then(
      (held) => {
        isLeaseLost ||= !held;
      },
      // Ignore short outages of the database; the lease is longer.
      () => {},
    );
  }, RENEW_MS);
  try {
    await carryOut(ctx, mine, progress);
  } catch (error) {
    clearInterval(renewing);
    if (isLeaseLost) return;
    const verdict = verdictOn(error);
    const isInterrupted = error instanceof Interrupted || broker.stopping;
    if (!verdict && !isInterrupted) broker.logger.error({ error, importId: mine.id }, "An import failed");
    if (verdict === undefined && (isInterrupted || mine.attempts < MAX_ATTEMPTS)) {
      return postponeImport(mine, isInterrupted ? 0 : mine.attempts);
    }
    await failImport(mine, verdict ?? "The import failed. Please try again.");
  } finally {
    clearInterval(renewing);
  }
}

/** Processes imports until none is left and returns how many were attempted. */
export async function runImports(ctx: Ctx): Promise<number> {
  let tried = 0;
  let working = 0;
  const worker = async () => {
    for (;;) {
      const mine = (ctx.broker as ServiceBroker).stopping ? undefined : await claimImport();
      if (mine) {
        tried++;
        working++;
        await tryOne(ctx, mine).finally(() => working--);
      } else if (working === 0 || ctx.broker.stopping) return;
      else await sleep(IDLE_MS);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return tried;
}
