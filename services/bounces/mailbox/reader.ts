/**
 * Reads one mailbox until it is stopped: first all existing messages, then new ones, announced by IDLE or found every
 * minute. A message is ingested together with its key (UIDVALIDITY and UID) in one transaction, then moved. A message
 * whose key exists, after a crash or beside another reader, is only moved. Nothing is deleted.
 */
import type { ImapFlow } from "imapflow";
import { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import type { Ingester } from "../ingest.ts";
import type { Report } from "../verdict.ts";
import { type ClaimedMailbox, seenOf } from "./bounce-mailboxes.ts";
import { MAX_MAIL_BYTES, MailboxError, openMailbox, reasonOf, sentenceOf } from "./connect.ts";

export interface ReaderDeps {
  ingester: Pick<Ingester, "ingest">;
  readReport: (raw: Uint8Array) => Promise<Report>;
}

const CHECK_EVERY_MS = 60_000;
/** Timeout of a command. */
const COMMAND_MS = 60_000;
const LOGOUT_MS = 2_000;
/** Messages whose sizes are requested together, and bytes fetched together. */
const MAX_MAILS = 100;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Limits how many mailboxes of this process hold messages in memory. */
const readings = new ConcurrencyLimit({ total: 4, perCompany: 2 });

const answered = <T>(work: Promise<T>): Promise<T> =>
  withTimeout(work, COMMAND_MS, () => new MailboxError("The IMAP server does not answer.", true));

async function sizesOf(client: ImapFlow, uids: readonly number[]): Promise<[uid: number, bytes: number][]> {
  const found = await answered(client.fetchAll(uids.join(","), { uid: true, size: true }, { uid: true }));
  return found.map(({ uid, size }) => [uid, Math.min(size ?? MAX_MAIL_BYTES, MAX_MAIL_BYTES)]);
}

/** Groups messages into batches that are fetched together. */
function batchesOf(sizes: readonly [uid: number, bytes: number][]): number[][] {
  const batches: number[][] = [];
  let room = 0;
  for (const [uid, bytes] of sizes) {
    if (bytes > room) {
      batches.push([]);
      room = MAX_BATCH_BYTES;
    }
    batches.at(-1)!.push(uid);
    room -= bytes;
  }
  return batches;
}

class Reading {
  readonly #client: ImapFlow;
  readonly #box: ClaimedMailbox;
  readonly #deps: ReaderDeps;
  readonly #signal: AbortSignal;
  readonly #validity: string;
  /** New messages were announced since the last check; servers announce them with any response. */
  #hasNews = false;

  constructor(client: ImapFlow, box: ClaimedMailbox, deps: ReaderDeps, signal: AbortSignal) {
    this.#client = client;
    this.#box = box;
    this.#deps = deps;
    this.#signal = signal;
    const { mailbox } = client;
    if (!mailbox) throw new MailboxError("The IMAP server closed the folder.", true);
    this.#validity = `${mailbox.uidValidity}`;
    client.on("exists", () => {
      this.#hasNews = true;
    });
  }

  #key(uid: number): string {
    return `${this.#validity}/${uid}`;
  }

  async #ingest(uid: number, source: Buffer): Promise<void> {
    const { id, company_id: companyId, origin } = this.#box;
    const report = await this.#deps.readReport(source);
    const dedupe = { origin, key: this.#key(uid) };
    await this.#deps.ingester.ingest({ via: "imap", companyId, smtpConfigId: id, report, raw: source, dedupe });
  }

  async #move(uids: readonly number[]): Promise<void> {
    if (uids.length === 0) return;
    const { processed_folder: processed } = this.#box;
    const result = await answered(this.#client.messageMove(uids.join(","), processed, { uid: true }));
    if (!result) throw new MailboxError(`Mails cannot be moved to the folder "${processed}".`);
  }

  /** Ingests one batch and moves what was ingested; failed messages stay in the folder. */
  async #ingestBatch(uids: readonly number[]): Promise<Error | undefined> {
    const source = { start: 0, maxLength: MAX_MAIL_BYTES };
    const mails = await answered(this.#client.fetchAll(uids.join(","), { uid: true, source }, { uid: true }));
    const complete = mails.filter((mail) => mail.source !== undefined);
    const ingested = await Promise.allSettled(complete.map((mail) => this.#ingest(mail.uid, mail.source!)));
    await this.#move(complete.filter((_, n) => ingested[n]!.status === "fulfilled").map(({ uid }) => uid));
    const failed = ingested.find((one) => one.status === "rejected");
    if (!failed) return undefined;
    const failure = new MailboxError("Some mails cannot be processed at the moment.", true, failed.reason);
    if (ingested.every((one) => one.status === "rejected")) throw failure;
    return failure;
  }

  /** Ingests all messages that are in the folder. */
  async ingestAll(): Promise<void> {
    this.#hasNews = false;
    const { company_id: companyId, origin } = this.#box;
    const uids = (await answered(this.#client.search({ deleted: false }, { uid: true }))) || [];
    let failure: Error | undefined;
    for (let at = 0; at < uids.length && !this.#signal.aborted; at += MAX_MAILS) {
      const batch = uids.slice(at, at + MAX_MAILS);
      const seen = await seenOf(
        companyId,
        origin,
        batch.map((uid) => this.#key(uid)),
      );
      await this.#move(batch.filter((uid) => seen.has(this.#key(uid))));
      const unseen = batch.filter((uid) => !seen.has(this.#key(uid)));
      if (unseen.length === 0) continue;
      for (const batch of batchesOf(await sizesOf(this.#client, unseen))) {
        if (this.#signal.aborted) return;
        failure = (await readings.run(companyId, () => this.#ingestBatch(batch))) ?? failure;
      }
    }
    if (failure) throw failure;
  }

  /** Resolves when messages arrive, after a minute, or on abort. Rejects if the connection is lost. */
  async waitForNews(): Promise<void> {
    const client = this.#client;
    const ended = new AbortController();
    await new Promise<void>((resolve, reject) => {
      const onClose = () => reject(new MailboxError("The connection to the IMAP server was lost.", true));
      const wake = () => resolve();
      const timer = setTimeout(wake, CHECK_EVERY_MS);
      client.on("exists", wake);
      client.on("close", onClose);
      this.#signal.addEventListener("abort", wake);
      ended.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        client.off("exists", wake);
        client.off("close", onClose);
        this.#signal.removeEventListener("abort", wake);
      });
      if (!client.usable) return onClose();
      if (this.#signal.aborted || this.#hasNews) return wake();
      // IDLE ends with the next command. Without IDLE, the next check finds new messages.
      client.idle().catch(() => {});
    }).finally(() => ended.abort());
  }
}

async function close(client: ImapFlow): Promise<void> {
  await withTimeout(client.logout(), LOGOUT_MS, () => new Error("No answer")).catch(() => {});
  client.close();
}

/**
 * Reads until `signal` aborts; rejects with a MailboxError. `works` is called each time that all messages have been
 * read.
 */
export async function readMailbox(
  box: ClaimedMailbox,
  deps: ReaderDeps,
  { signal, works }: { signal: AbortSignal; works: () => Promise<void> },
): Promise<void> {
  const client = await openMailbox(box);
  try {
    const reading = new Reading(client, box, deps, signal);
    while (!signal.aborted) {
      await reading.ingestAll();
      await works();
      await reading.waitForNews();
    }
  } catch (error) {
    throw sentenceOf(reasonOf(client, error), box);
  } finally {
    await close(client);
  }
}
