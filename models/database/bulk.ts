/**
 * What takes long for one company runs on connections of its own, and waits for its turn before it takes one. However much
 * of it a company asks for at once, the others' requests find connections, and their own costly work gets turns between.
 *
 * | work                                       | at once in a process   | of one company | waits at most | a statement takes at most |
 * |--------------------------------------------|------------------------|----------------|---------------|---------------------------|
 * | imports                                    | a third of bulk        | 1              | 5 minutes     | 14 minutes                |
 * | imports of small files                     | another third          | 1              | 5 minutes     | 14 minutes                |
 * | segments, searches, filtered, sorted lists | a third, with exports  | 1              | 10 s          | 5 s                       |
 * | exports, page by page                      | a third, with reads    | 1              | 2 minutes     | 30 s                      |
 * | expansion of campaigns                     | what the others leave  | half           | 5 s           | 60 s                      |
 * | recipients of stopped campaigns that fail  | a third                | 1              | 10 s          | 60 s                      |
 * | changes of thousands of rows by a request  | a third as many of sql | 1              | 10 s          | 60 s                      |
 * | newsletters that are begun                 | as sql allows          | 1              | 10 s          | 60 s                      |
 *
 * Who waited too long gets 429 where the company has its turns, 503 where all are taken by others.
 */
import type pg from "pg";
import { isServiceError, throttled, unavailable } from "../../services/lib/errors.ts";
import { bulkSteps } from "../../services/lib/give-way.ts";
import { type Release, Turns } from "../../services/lib/turns.ts";
import { bulkPool, type Client, INTERACTIVE, transaction } from "./db.ts";
import { isQueryCanceled } from "./outage.ts";
import type { Settings } from "./session-settings.ts";
import { thirdOf } from "./shares.ts";

const RETRY_SECONDS = 5;
const MAX_IMPORT_WAIT_MS = 5 * 60_000;
/** For a turn, where somebody waits for the answer. */
const MAX_WAIT_MS = 10_000;
const MAX_EXPORT_WAIT_MS = 120_000;
/** From then on a request's writing goes on without rests: PostgreSQL ends a transaction after 70 s. */
const MAX_WRITE_RESTS_MS = 10_000;

/** Somebody waits for the answer, and nobody longer than this for one statement. */
const MAX_READ_MS = 5_000;
const MAX_EXPORT_MS = 30_000;

/** A statement that may take seconds takes one core for them, not all: measured on two cores. */
const costly = (statementMs: number): Settings => ({
  statement_timeout: statementMs,
  max_parallel_workers_per_gather: 0,
});

const refusal = (ofOwner: boolean) =>
  ofOwner ? throttled(RETRY_SECONDS) : unavailable("Too much work of this kind is under way.");

interface Lanes {
  imports: Turns;
  smallImports: Turns;
  reads: Turns;
  writes: Turns;
  /** Of each company one rests before its turn, and the others behind it. */
  ownWrites: Turns;
  newsletters: Turns;
  ends: Turns;
}

const lanesOf = new WeakMap<pg.Pool, Lanes>();

function lanes(): Lanes {
  const pool = bulkPool();
  const known = lanesOf.get(pool);
  if (known) return known;
  const lane = (inAll = thirdOf(pool.options.max)) => new Turns({ inAll, perOwner: 1, refusal });
  const made = {
    imports: lane(),
    smallImports: lane(),
    reads: lane(),
    writes: lane(),
    ownWrites: lane(Number.POSITIVE_INFINITY),
    newsletters: lane(Number.POSITIVE_INFINITY),
    ends: lane(),
  };
  lanesOf.set(pool, made);
  return made;
}

type Work<T> = (client: Client) => Promise<T>;

async function inLane<T>(turns: Turns, waitMs: number, companyId: string, work: () => Promise<T>): Promise<T> {
  const release: Release = await turns.take(companyId, waitMs);
  try {
    return await work();
  } finally {
    release();
  }
}

const onBulk = <T>(owner: string | undefined, work: Work<T>, settings?: Settings) =>
  transaction(work, { from: bulkPool(), owner, settings });

interface ReadLimits {
  /** Of each statement. */
  statementMs?: number;
  /** For the turn. */
  waitMs?: number;
}

/** A transaction that only reads, for an answer that somebody waits for. */
export const costlyRead = <T>(companyId: string, work: Work<T>, limits: ReadLimits = {}): Promise<T> =>
  inLane(lanes().reads, limits.waitMs ?? MAX_WAIT_MS, companyId, () =>
    onBulk(companyId, work, costly(limits.statementMs ?? MAX_READ_MS)),
  );

/** It waited too long for its turn. */
export const foundNoTurn = (error: unknown): boolean =>
  isServiceError(error, "THROTTLED") || isServiceError(error, "UNAVAILABLE");

/** Of a costly read that its caller can do without: it took too long, or found no turn in time. */
export const isTooCostly = (error: unknown): boolean => isQueryCanceled(error) || foundNoTurn(error);

/** Times come as text (text-rows.ts), and those of UTC are written as they are. */
const EXPORT: Settings = { ...costly(MAX_EXPORT_MS), timezone: "UTC" };

/** Rests first, so that no company's rest takes a turn of the others. What rests afterwards is timed within: waiting for a turn is not. */
const restedInLane = <T>(turns: Turns, waitMs: number, companyId: string, work: () => Promise<T>): Promise<T> =>
  bulkSteps.inTurn(companyId, () => inLane(turns, waitMs, companyId, work));

const stepOnBulk = <T>(companyId: string, work: Work<T>, settings?: Settings): Promise<T> =>
  bulkSteps.timed(companyId, () => onBulk(companyId, work, settings));

/** One page of an export; between two pages others have their turns, and it rests where they need the CPU. */
export const exportRead = <T>(companyId: string, work: Work<T>, settings: Settings = {}): Promise<T> =>
  restedInLane(lanes().reads, MAX_EXPORT_WAIT_MS, companyId, () =>
    stepOnBulk(companyId, work, { ...EXPORT, ...settings }),
  );

/**
 * A small file does not wait for the large ones of other companies. That of its own company it would meet at the company's lock,
 * holding a connection, so that it waits for its turn behind that one.
 */
export function importTransaction<T>(companyId: string, work: Work<T>, { isSmall = false } = {}): Promise<T> {
  const { imports, smallImports } = lanes();
  const lane = isSmall && !imports.serves(companyId) ? smallImports : imports;
  return inLane(lane, MAX_IMPORT_WAIT_MS, companyId, () => onBulk(companyId, work));
}

interface SlicedWrite {
  ids: readonly string[];
  /** Of ids, in one statement. */
  slice: number;
  /** Called slice after slice, in the order of the ids, so that two such requests do not wait for each other's rows. */
  write: (client: Client, ids: string[]) => Promise<void>;
}

/**
 * For a request that writes thousands of rows: one transaction, for which the company's turn is taken. Where others need the CPU its
 * slices are smaller, and it rests between them.
 */
export function writeInTurn(companyId: string, { ids, slice, write }: SlicedWrite): Promise<void> {
  const { ownWrites, writes } = lanes();
  const inOrder = [...new Set(ids.map((id) => id.toLowerCase()))].sort();
  const inSlices = async (client: Client) => {
    const restsUntilMs = performance.now() + MAX_WRITE_RESTS_MS;
    for (let at = 0; at < inOrder.length; ) {
      const mayRest = performance.now() < restsUntilMs;
      const next = at + (mayRest ? bulkSteps.rows(companyId, slice) : slice);
      if (mayRest) await bulkSteps.rest(companyId);
      await bulkSteps.timed(companyId, () => write(client, inOrder.slice(at, next)));
      at = next;
    }
  };
  const rested = () => restedInLane(writes, MAX_WAIT_MS, companyId, () => transaction(inSlices, INTERACTIVE));
  return inLane(ownWrites, MAX_WAIT_MS, companyId, rested);
}

/**
 * For a newsletter that is begun: one of a company at a time. Beside those of all others, because it may wait for what the company's
 * own work has locked.
 */
export const newsletterInTurn = <T>(companyId: string, work: () => Promise<T>): Promise<T> =>
  inLane(lanes().newsletters, MAX_WAIT_MS, companyId, () => bulkSteps.run(companyId, work));

/** For receivers that are saved as subscribers. One at a time, by a repeated action. */
export const saveTransaction = <T>(companyId: string, work: Work<T>): Promise<T> =>
  bulkSteps.run(companyId, () => onBulk(companyId, work));

/** For a part of the recipients that a stopped campaign leaves: somebody may stop hundreds of campaigns at once. */
export const endTransaction = <T>(companyId: string, work: Work<T>): Promise<T> =>
  restedInLane(lanes().ends, MAX_WAIT_MS, companyId, () => stepOnBulk(companyId, work));

/** For one slice of a campaign. How many run at once is the expansion's to say (expansion-queue.ts). */
export const sliceTransaction = <T>(companyId: string | undefined, work: Work<T>): Promise<T> =>
  onBulk(companyId, work);
