/**
 * Senders are frozen, or cut off from PostgreSQL by a network that still acknowledges, at random moments: the others'
 * rate soon exceeds half again, and nothing is lost or sent twice. FAILURES=long takes 200 faults of each kind, FAULTS
 * sets the number. Prints the longest time below half the rate.
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { query } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { withIds } from "../../models/statements/mail-key.ts";
import { type Child, startChild } from "../support/child.ts";
import { long } from "../support/long.ts";
import { messageId, useSending } from "../support/sending.ts";
import { type SilentProxy, startSilentProxy } from "../support/silent-proxy.ts";
import type { SmtpServer } from "../support/smtp-server.ts";

const { sent: sentStatus, unknown } = SENT_EMAIL_STATUS;

const FAULTS = Number(process.env.FAULTS ?? (long ? 200 : 2));
const SENDERS = 3;
const COMPANIES = 4;
/** Slow enough that the server and not a busy machine limits the rate. */
const DOT_MS = 100;
const CONNECTIONS = 2;
/** Per company; more than all senders can send in the time, at ten seconds per fault. */
const RECIPIENTS = long ? Math.ceil((2 * FAULTS * 10_000 * SENDERS * CONNECTIONS) / DOT_MS) : 4_000;
const WINDOW_MS = 500;
const BACK_WITHIN_MS = 12_000;
/** Minimum duration of a fault: longer than what is reserved for a vanished sender. */
const FAULT_MS = 5_500;

jest.setTimeout(60_000 + 2 * FAULTS * 20_000);

const NODE = join(import.meta.dirname, "../support/sender-node.ts");
const sending = useSending();
const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface Sender {
  child: Child;
  proxy: SilentProxy;
}

async function startSender(): Promise<Sender> {
  const url = new URL(sending.databaseUrl);
  const proxy = await startSilentProxy(Number(url.port));
  endings.push(() => proxy.stop());
  url.port = `${proxy.port}`;
  const child = startChild(process.execPath, [NODE], { env: { ...process.env, DATABASE_URL: url.href } });
  endings.push(() => child.stop());
  while (!child.output().includes("ready")) await sleep(20);
  return { child, proxy };
}

const faults = {
  freeze: {
    begin: ({ child }: Sender) => child.signal("SIGSTOP"),
    end: async ({ child }: Sender) => child.signal("SIGCONT"),
  },
  cut: {
    begin: ({ proxy }: Sender) => proxy.swallow(),
    end: async ({ proxy }: Sender) => {
      await proxy.pass();
      proxy.cut({ onlyMute: true });
    },
  },
};

const rateOver = async (server: SmtpServer, ms: number) => {
  const before = server.accepted;
  await sleep(ms);
  return ((server.accepted - before) * 1_000) / ms;
};

/** The longest time without a window of the wanted rate; observes at least FAULT_MS and until the rate is back. */
async function stallOf(server: SmtpServer, least: number): Promise<number> {
  const begun = performance.now();
  let longestMs = 0;
  for (let lowSince = begun; ; ) {
    const rate = await rateOver(server, WINDOW_MS);
    const now = performance.now();
    if (rate >= least) lowSince = now;
    longestMs = Math.max(longestMs, now - lowSince);
    if ((rate >= least && now - begun > FAULT_MS) || now - lowSince > 2 * BACK_WITHIN_MS) return longestMs;
  }
}

test(`${FAULTS} freezes and ${FAULTS} cuts: the other senders regain half the rate, nothing is lost or sent twice`, async () => {
  const server = await sending.startServer({ delayMs: { DOT: DOT_MS }, keep: false });
  const ids: string[] = [];
  for (let n = 0; n < COMPANIES; n++) {
    const companyId = await sending.company();
    const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: CONNECTIONS });
    ids.push(await sending.campaign({ companyId, smtpConfigId, recipients: RECIPIENTS, chunk: 25 }));
  }
  const senders: Sender[] = [];
  for (let n = 0; n < SENDERS; n++) senders.push(await startSender());
  await server.received(100);
  const rate = await rateOver(server, 4_000);
  const others = (rate * (SENDERS - 1)) / SENDERS;
  const stalls: Record<string, number[]> = { freeze: [], cut: [] };
  for (let n = 0; n < 2 * FAULTS; n++) {
    const kind = n % 2 === 0 ? "freeze" : "cut";
    const victim = senders[Math.floor(Math.random() * SENDERS)]!;
    await sleep(Math.random() * 500);
    faults[kind].begin(victim);
    stalls[kind]!.push(await stallOf(server, others / 2));
    await faults[kind].end(victim);
    await sleep(500);
    expect(server.accepted).toBeLessThan(COMPANIES * RECIPIENTS);
  }
  const longest = (kind: string) => (Math.max(...stalls[kind]!) / 1_000).toFixed(1);
  process.stdout.write(
    `${rate.toFixed(0)} mails/s; longest below half: ${FAULTS} freezes ${longest("freeze")} s, ${FAULTS} cuts ${longest("cut")} s\n`,
  );
  for (const kind of ["freeze", "cut"]) expect(Math.max(...stalls[kind]!)).toBeLessThan(BACK_WITHIN_MS);

  await Promise.all(senders.map(({ child }) => child.stop()));
  expect(server.doubled).toEqual([]);
  const arrived = new Set([...server.counts.keys()].map((key) => key.split(" ", 1)[0]!));
  const rows = await withIds(
    await query<{ id: string; campaign_no: number; seq: number; status: number }>(
      `select campaign_no, seq, status from sent_emails
       where campaign_no in (select no from campaigns where id = any ($1)) and (status > 0 or next_attempt_at is not null)`,
      [ids],
    ),
  );
  const sent = rows.filter(({ status }) => status === sentStatus);
  expect(sent.filter(({ id }) => !arrived.has(messageId(id)))).toEqual([]);
  expect(sent.length).toBeGreaterThan(100);
  // Each delivered mail is recorded as sent, or in doubt and never sent again automatically; returning senders report
  // what they know.
  const settled = new Set(
    rows.filter(({ status }) => status === sentStatus || status === unknown).map(({ id }) => messageId(id)),
  );
  expect([...arrived].filter((id) => !settled.has(id!))).toEqual([]);
});
