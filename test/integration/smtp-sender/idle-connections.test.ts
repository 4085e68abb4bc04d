/** A connection that is kept idle may be dead without a word: no mail waits for it, and none is lost or doubled. */
import { setTimeout as sleep } from "node:timers/promises";
import { queryOne } from "../../../models/database/db.ts";
import { useSending } from "../../support/sending.ts";
import { type SilentProxy, startSilentProxy } from "../../support/silent-proxy.ts";
import type { Answer } from "../../support/smtp-server.ts";

const sending = useSending();

const IDLE_MS = 2_200;
const RECEIPTS = 8;

let proxy: SilentProxy | undefined;
afterEach(async () => {
  await proxy?.stop();
  proxy = undefined;
});

/** A server with connections that have sent a campaign, and `receipt`, a transactional campaign behind it. */
async function kept(toNoop: () => Answer, { pipelining = true, throughProxy = false } = {}) {
  let noops = 0;
  const server = await sending.startServer({
    pipelining,
    answer: ({ verb }) => {
      if (verb !== "NOOP") return verb === "DOT" ? { reply: "250 2.0.0 Ok", delayMs: 20 } : undefined;
      noops++;
      return toNoop();
    },
  });
  if (throughProxy) proxy = await startSilentProxy(server.port);
  const port = proxy?.port ?? server.port;
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, { host: "127.0.0.1", port }, { maxConnections: 4 });
  const send = (recipients: number) => sending.campaign({ companyId, smtpConfigId, recipients, transactional: true });
  const id = await send(60);
  sending.engine();
  await sending.finished(id);
  expect(noops).toBe(0);
  const failing = async () =>
    (await queryOne<{ failing_since: Date | null }>("select failing_since from smtp_configs where id = $1", [
      smtpConfigId,
    ]))!.failing_since;
  return { server, send, failing, opened: server.connections, noops: () => noops };
}

const all = (n: number) => ({ status: "completed", sent_count: n, failed_count: 0 });

test("a firewall has forgotten them: they are given up within seconds, all at a time", async () => {
  const { server, send, failing, opened } = await kept(() => undefined, { throughProxy: true });
  expect(opened).toBeGreaterThan(1);
  await sleep(IDLE_MS);
  proxy!.swallow();
  const began = Date.now();
  const id = await send(RECEIPTS);
  await sleep(1_000);
  proxy!.pass();
  expect(await sending.finished(id, 20_000)).toMatchObject(all(RECEIPTS));
  expect(Date.now() - began).toBeLessThan(12_000);
  expect([server.accepted, server.doubled, await failing()]).toEqual([60 + RECEIPTS, [], null]);
});

test.each<[string, Answer, boolean]>([
  ["as usual", undefined, true],
  ["that it does not know NOOP", "500 5.5.2 What?", true],
  ["without PIPELINING", undefined, false],
])(
  "the server is there, and answers %s: mail goes by the connection that is open",
  async (_what, answer, pipelining) => {
    const { server, send, opened, noops } = await kept(() => answer, { pipelining });
    await sleep(IDLE_MS);
    const id = await send(1);
    expect(await sending.finished(id)).toMatchObject(all(1));
    expect([server.accepted, server.connections, server.protocolErrors]).toEqual([61, opened, []]);
    expect(noops()).toBeGreaterThan(0);
    expect(noops()).toBeLessThanOrEqual(opened);
  },
);

test.each<[string, Answer]>([
  ["says 421", "421 4.4.2 Idle for too long"],
  ["closes the connection", { drop: true }],
])(
  "a server that %s when it is asked: mail goes by a new connection, and the server is not paused",
  async (_what, answer) => {
    const { server, send, failing, opened } = await kept(() => answer);
    await sleep(IDLE_MS);
    const id = await send(RECEIPTS);
    expect(await sending.finished(id, 10_000)).toMatchObject(all(RECEIPTS));
    expect([server.accepted, server.doubled, await failing()]).toEqual([60 + RECEIPTS, [], null]);
    expect(server.connections).toBeGreaterThan(opened);
  },
);
