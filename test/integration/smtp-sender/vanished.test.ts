/**
 * A sender that vanishes at the worst moment for the others. SIGSTOP freezes it, so that its connections stay open and
 * the kernel continues to acknowledge data: only a time-out can detect it.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { isDatabaseOutage } from "../../../models/database/outage.ts";
import { type Child, startChild } from "../../support/child.ts";
import { useSending } from "../../support/sending.ts";

const NODE = join(import.meta.dirname, "../../support/sender-node.ts");
/** Time limit for the release of its locks, which takes 10 s; the remainder is for a busy machine. */
const FREE_WITHIN_MS = 20_000;
/** 1 of 15 was within a transaction when claims were one of several statements. */
const TRIES = 60;

jest.setTimeout(240_000);

const sending = useSending();
const children: Child[] = [];
afterEach(() => Promise.all(children.splice(0).map((child) => child.stop())));

async function startSender(name: string): Promise<Child> {
  const url = new URL(sending.databaseUrl);
  url.searchParams.set("application_name", name);
  const child = startChild(process.execPath, [NODE], {
    env: { ...process.env, DATABASE_URL: url.href, SEND_LEASE_SECONDS: "30" },
  });
  children.push(child);
  while (!child.output().includes("ready")) await sleep(20);
  return child;
}

const openTransactions = (name: string) =>
  query<{ query: string }>(
    `select query from pg_stat_activity where datname = current_database() and application_name = $1
       and state like 'idle in transaction%'`,
    [name],
  );

/** Stops it again and again, until it is within a transaction; left stopped either way. */
async function freeze(child: Child, name: string): Promise<string | undefined> {
  for (let tried = 1; ; tried++) {
    child.signal("SIGSTOP");
    // Work that was in progress when it stopped ends during this wait.
    await sleep(15);
    const [open] = await openTransactions(name);
    if (open || tried === TRIES) return open?.query;
    child.signal("SIGCONT");
    await sleep(Math.random() * 20);
  }
}

test("a sender frozen within a transaction, or at any other moment, stops no other sender", async () => {
  const server = await sending.startServer({ delayMs: { DOT: 2 } });
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) {
    const companyId = await sending.company();
    const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 4 });
    ids.push(await sending.campaign({ companyId, smtpConfigId, recipients: 20_000, chunk: 20 }));
  }
  const gone = await startSender("gone");
  await server.received(100);
  await freeze(gone, "gone");
  await startSender("other");
  const before = server.accepted;
  // This includes campaigns whose rows it was about to write.
  await sending.until(
    async () => server.accepted - before,
    (mails) => mails > 1_000,
    FREE_WITHIN_MS,
  );
  for (const id of ids) {
    const { sent_count } = await sending.counts(id);
    await sending.until(
      () => sending.counts(id),
      (counts) => counts.sent_count > sent_count,
      FREE_WITHIN_MS,
    );
  }
  expect(await openTransactions("gone")).toEqual([]);
  expect(server.doubled).toEqual([]);
});

test("a transaction whose client is silent is ended, whatever it locks, and its client learns that", async () => {
  const server = await sending.startServer();
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 100 });
  let wake = () => {};
  const asleep = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const expand = "hashtextextended('expand:' || $1, 0)";
  const holding = transaction(async (client) => {
    await query(`select pg_advisory_xact_lock(${expand})`, [id], client);
    await query("update campaigns set next_seq = next_seq where id = $1", [id], client);
    await asleep;
    await query("select 1", [], client);
  });
  const outcome = holding.catch((error: Error) => error);
  await sending.until(
    async () => (await openTransactions("flockmail")).length,
    (open) => open === 1,
  );
  const free = () =>
    transaction(
      async (client) =>
        (await queryOne<{ held: boolean }>(`select pg_try_advisory_xact_lock(${expand}) held`, [id], client))!.held,
    );
  expect(await free()).toBe(false);
  sending.engine();
  expect(await sending.finished(id, FREE_WITHIN_MS)).toMatchObject({ status: "completed", sent_count: 100 });
  expect(await free()).toBe(true);
  wake();
  expect(isDatabaseOutage(await outcome)).toBe(true);
});
