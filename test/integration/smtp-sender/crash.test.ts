/** Kills, pauses and stops sender processes during a send: every recipient is accounted for, and nobody gets two. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { resume } from "../../../services/campaigns/lifecycle/resume.ts";
import type { Ctx } from "../../../services/lib/caller.ts";
import { longTest } from "../../support/long.ts";
import { messageId, type Recipient, type Sending, startSending } from "../../support/sending.ts";
import { type SilentProxy, startSilentProxy } from "../../support/silent-proxy.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const NODE = join(import.meta.dirname, "../../support/sender-node.ts");
const IN_DOUBT = 50;

let sending: Sending;
let server: SmtpServer;
const processes = new Set<ChildProcess>();
const proxies: SilentProxy[] = [];

beforeAll(async () => {
  sending = await startSending();
});
afterAll(() => sending.stop());
afterEach(async () => {
  await Promise.all([...processes].map((child) => end(child, "SIGKILL")));
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  await server.stop();
});

async function sender(env: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const child = spawn(process.execPath, [NODE], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      DATABASE_URL: sending.databaseUrl,
      MAX_IN_DOUBT: `${IN_DOUBT}`,
      SEND_LEASE_SECONDS: "2",
      RETRY_BASE_SECONDS: "1",
      ...env,
    },
  });
  processes.add(child);
  await once(child.stdout!, "data");
  return child;
}

/** A way to the database that can be cut without a word. */
async function databaseProxy() {
  const proxy = await startSilentProxy(Number(new URL(sending.databaseUrl).port));
  proxies.push(proxy);
  return { proxy, env: { DATABASE_URL: sending.databaseUrl.replace(/:\d+\//, `:${proxy.port}/`) } };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  processes.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

async function campaign(recipients: number | Recipient[], transactional = false) {
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 5 });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients, transactional, chunk: 200 });
  return { id, companyId };
}

/** Checks that every recipient that counts as sent got the mail, and that everyone who got it is sent or in doubt. */
async function accountFor(id: string): Promise<void> {
  const arrived = new Set(server.messages.map((message) => message.messageId));
  for (const recipient of await sending.recipients(id)) {
    const here = arrived.has(messageId(recipient.id));
    if (recipient.status === 2) expect(here).toBe(true);
    if (here) expect([2, 6]).toContain(recipient.status);
  }
}

test("repeated kill -9 loses nobody and sends nobody two mails, leaves few in doubt, and resume sends to the others", async () => {
  server = await startSmtpServer({ delayMs: { DOT: 6 } });
  const { id, companyId } = await campaign(2_500);
  const senders = [await sender(), await sender()];
  let kills = 0;
  for (let n = 0; n < 4; n++) {
    await server.received(Math.min(server.accepted + 200, 2_300));
    await end(senders[n % 2]!, "SIGKILL");
    kills++;
    senders[n % 2] = await sender();
  }
  const counts = await sending.finished(id, 60_000);
  expect(counts.sent_count + counts.failed_count).toBe(2_500);
  expect(server.doubled).toEqual([]);
  const { unknown = 0, sent } = await sending.states(id);
  expect(sent! + unknown).toBe(2_500);
  expect(unknown).toBeGreaterThan(0);
  expect(unknown).toBeLessThanOrEqual(IN_DOUBT * kills);
  await accountFor(id);

  await resume({ meta: { companyId }, emit: async () => {} } as unknown as Ctx, id);
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 2_500, failed_count: 0 });
  const reached = new Set(server.messages.map(({ to }) => to[0]));
  expect(reached.size).toBe(2_500);
  // Only recipients in doubt may have got a second mail, with the same Message-ID.
  expect(server.doubled.length).toBeLessThanOrEqual(unknown);
}, 240_000);

test("a transactional campaign arrives completely after everything was killed at once and started again", async () => {
  server = await startSmtpServer({ delayMs: { DOT: 3 } });
  const { id } = await campaign(1_500, true);
  const senders = [await sender(), await sender()];
  await server.received(400);
  await Promise.all(senders.map((child) => end(child, "SIGKILL")));
  await sender();
  expect(await sending.finished(id, 120_000)).toMatchObject({ status: "completed", sent_count: 1_500 });
  expect(new Set(server.messages.map(({ to }) => to[0])).size).toBe(1_500);
  expect(server.doubled.length).toBeLessThanOrEqual(2 * IN_DOUBT);
}, 180_000);

const unknownOf = (id: string) =>
  queryOne<{ n: number }>(
    "select count(*)::int n from sent_emails where campaign_no = (select no from campaigns where id = $1) and status = 6",
    [id],
  );

/** Recipients in doubt are sent to or sent again, and the campaign has no failures, whether or not it had ended. */
async function expectNobodyInDoubt(id: string, recipients: number): Promise<void> {
  await sending.until(
    () => unknownOf(id),
    (row) => row!.n === 0,
  );
  const counts = await sending.until(
    () => sending.finished(id),
    ({ failed_count }) => failed_count === 0,
  );
  expect(counts).toMatchObject({ status: "completed", sent_count: recipients, failed_count: 0 });
  expect(await sending.states(id)).toEqual({ sent: recipients });
  expect(server.doubled).toEqual([]);
  await accountFor(id);
}

test("a sender paused past its lease sends nothing more when it resumes, and reports results of recipients in doubt", async () => {
  server = await startSmtpServer({ delayMs: { DOT: 5 } });
  const { id } = await campaign(1_500);
  const paused = await sender();
  await server.received(200);
  paused.kill("SIGSTOP");
  const other = await sender();
  await sending.until(
    () => unknownOf(id),
    (row) => row!.n > 0,
  );
  paused.kill("SIGCONT");
  await expectNobodyInDoubt(id, 1_500);
  await end(other, "SIGTERM");
  await end(paused, "SIGTERM");
}, 180_000);

test("a campaign that has ended with recipients in doubt is corrected when their sender is back", async () => {
  server = await startSmtpServer({ delayMs: { DOT: 5 } });
  const { id } = await campaign(1_000);
  const { proxy, env } = await databaseProxy();
  const cutOff = await sender(env);
  await server.received(200);
  proxy.hold();
  const other = await sender();
  expect((await sending.finished(id)).status).toBe("partial");
  expect((await unknownOf(id))!.n).toBeGreaterThan(0);
  const acceptedBefore = server.accepted;
  await proxy.pass();
  await expectNobodyInDoubt(id, 1_000);
  expect(server.accepted).toBeGreaterThanOrEqual(acceptedBefore);
  await end(other, "SIGTERM");
  await end(cutOff, "SIGTERM");
}, 180_000);

test("a silent database outage of three leases without other senders: nobody is in doubt afterwards", async () => {
  server = await startSmtpServer({ delayMs: { DOT: 5 } });
  const { id } = await campaign(2_000);
  const { proxy, env } = await databaseProxy();
  const senders = [await sender(env), await sender(env)];
  const doubts: number[] = [];
  for (const accepted of [200, 900]) {
    await server.received(accepted);
    proxy.hold();
    await sleep(6_000);
    await proxy.pass();
    // Other senders recover the leases of the process before it continues.
    await server.received(server.accepted + 100);
    doubts.push((await unknownOf(id))!.n);
  }
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 2_000, failed_count: 0 });
  expect(doubts).toEqual([0, 0]);
  expect(server.doubled).toEqual([]);
  for (const child of senders) await end(child, "SIGTERM");
}, 180_000);

interface Copy {
  id: string;
  email: string;
  status: number;
  attempts: number;
}

async function copiesOf(id: string): Promise<Copy[]> {
  const ids = new Map((await sending.recipients(id)).map((recipient) => [recipient.seq, recipient.id]));
  const sql = "select seq, email, status, attempts from sent_email_copies where campaign_id = $1";
  const copies = await query<Omit<Copy, "id"> & { seq: number }>(sql, [id]);
  return copies.map((copy) => ({ ...copy, id: ids.get(copy.seq)! }));
}

const arrivals = (id: string, to: string) => server.counts.get(`${messageId(id)} ${to}`) ?? 0;

test("kill -9 between emails and their copies, and while copies are retried, loses and duplicates none", async () => {
  const seen = new Set<string>();
  const isDeferred = (to: string) => /^cc\d*[02468]@/.test(to) && seen.size < seen.add(to).size;
  server = await startSmtpServer({
    delayMs: { DOT: 3 },
    answer: ({ verb, to }) => (verb === "RCPT" && isDeferred(to) ? "450 4.2.0 Greylisted" : undefined),
  });
  const recipients = Array.from({ length: 800 }, (_, n) => ({
    email: `r${n}@to.example`,
    cc: [`cc${n}@to.example`],
    bcc: [`bcc${n}@to.example`],
  }));
  const { id } = await campaign(recipients);
  const senders = [await sender(), await sender()];
  let kills = 0;
  for (let n = 0; n < 3; n++) {
    await server.received(Math.min(server.accepted + 300, 1_700));
    await end(senders[n % 2]!, "SIGKILL");
    kills++;
    senders[n % 2] = await sender();
  }
  const counts = await sending.finished(id, 60_000);
  expect(counts.sent_count + counts.failed_count).toBe(800);
  const copies = await sending.until(
    () => copiesOf(id),
    (rows) => rows.length === 2 * counts.sent_count && rows.every(({ status }) => status > 1),
    60_000,
  );
  // Nothing of a newsletter is sent twice, and everything that may have arrived is in doubt.
  expect(server.doubled).toEqual([]);
  for (const copy of copies) {
    const arrived = arrivals(copy.id, copy.email);
    if (copy.status === 2) expect([copy.email, arrived]).toEqual([copy.email, 1]);
    else expect([copy.email, copy.status]).toEqual([copy.email, 6]);
  }
  const doubtful = copies.filter(({ status }) => status === 6).length;
  expect(doubtful).toBeLessThanOrEqual(IN_DOUBT * kills);
  // An email in doubt has no rows for its copies: they share its doubt.
  const unknown = (await sending.recipients(id)).filter(({ status }) => status === 6).length;
  expect(2 * (counts.sent_count + unknown)).toBe(1_600);
}, 240_000);

longTest(
  "all copies of a transactional campaign arrive after everything was killed while some waited and some were being sent",
  async () => {
    const seen = new Set<string>();
    server = await startSmtpServer({
      delayMs: { DOT: 3 },
      answer: ({ verb, to }) =>
        verb === "RCPT" && to.startsWith("cc") && seen.size < seen.add(to).size ? "450 4.2.0 Greylisted" : undefined,
    });
    const recipients = Array.from({ length: 300 }, (_, n) => ({
      email: `r${n}@to.example`,
      cc: [`cc${n}@to.example`],
    }));
    const { id } = await campaign(recipients, true);
    let senders = [await sender(), await sender()];
    for (const accepted of [150, 400]) {
      await server.received(accepted);
      await Promise.all(senders.map((child) => end(child, "SIGKILL")));
      senders = [await sender(), await sender()];
    }
    expect(await sending.finished(id, 60_000)).toMatchObject({ status: "completed", sent_count: 300 });
    const copies = await sending.until(
      () => copiesOf(id),
      (rows) => rows.length === 300 && rows.every(({ status }) => status === 2),
      60_000,
    );
    for (const { id: mail, email } of copies) expect(arrivals(mail, email)).toBeGreaterThanOrEqual(1);
    expect(server.doubled.length).toBeLessThanOrEqual(4 * IN_DOUBT);
  },
  180_000,
);

longTest(
  "senders that are stopped and started in turn leave nothing in doubt",
  async () => {
    server = await startSmtpServer({ delayMs: { DOT: 6 } });
    const { id } = await campaign(2_000);
    const senders = [await sender(), await sender()];
    for (let n = 0; n < 4; n++) {
      await server.received(Math.min(server.accepted + 200, 1_800));
      await end(senders[n % 2]!, "SIGTERM");
      senders[n % 2] = await sender();
    }
    expect(await sending.finished(id, 120_000)).toMatchObject({
      status: "completed",
      sent_count: 2_000,
      failed_count: 0,
    });
    expect(server.doubled).toEqual([]);
  },
  180_000,
);

test("a sender whose connections the database cuts repeatedly waits, continues, and loses nothing", async () => {
  server = await startSmtpServer({ delayMs: { DOT: 6 } });
  const { id } = await campaign(2_000);
  await sender();
  for (let n = 0; n < 5; n++) {
    await server.received(Math.min(server.accepted + 300, 1_800));
    await query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
    );
    await sleep(50);
  }
  expect(await sending.finished(id, 120_000)).toMatchObject({
    status: "completed",
    sent_count: 2_000,
    failed_count: 0,
  });
  expect(server.doubled).toEqual([]);
}, 180_000);

test("a database that hangs for longer than a lease leaves nobody in doubt, and remaining recipients get their mail afterwards", async () => {
  server = await startSmtpServer({ delayMs: { DOT: 20 } });
  const { id } = await campaign(600);
  await sender();
  await server.received(100);
  await transaction(async (client) => {
    await client.query("select from send_chunks where campaign_id = $1 for update", [id]);
    await sleep(2_500);
  });
  expect(await sending.finished(id, 15_000)).toMatchObject({ status: "completed", sent_count: 600, failed_count: 0 });
  expect(server.doubled).toEqual([]);
}, 180_000);
