/** A connection that is kept idle may be dead without a word: no mail waits for it, and none is lost or doubled. */
import { setTimeout as sleep } from "node:timers/promises";
import { queryOne } from "../../../models/database/db.ts";
import { useSending } from "../../support/sending.ts";
import { sideBySide } from "../../support/side-by-side.ts";
import { startSilentProxy } from "../../support/silent-proxy.ts";
import type { Answer } from "../../support/smtp-server.ts";

const sending = useSending();

const IDLE_MS = 2_200;
const RECEIPTS = 8;

/** A server with connections that have sent a campaign, and `receipt`, a transactional campaign behind it. */
async function kept(toNoop: () => Answer, { pipelining = true, portOf = async (port: number) => port } = {}) {
  let noops = 0;
  const server = await sending.startServer({
    pipelining,
    answer: ({ verb }) => {
      if (verb !== "NOOP") return verb === "DOT" ? { reply: "250 2.0.0 Ok", delayMs: 20 } : undefined;
      noops++;
      return toNoop();
    },
  });
  const port = await portOf(server.port);
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, { host: "127.0.0.1", port }, { maxConnections: 4 });
  const send = (recipients: number) => sending.campaign({ companyId, smtpConfigId, recipients, transactional: true });
  const id = await send(60);
  if (sending.engines.length === 0) sending.engine();
  await sending.finished(id);
  expect(noops).toBe(0);
  const failing = async () =>
    (await queryOne<{ failing_since: Date | null }>("select failing_since from smtp_configs where id = $1", [
      smtpConfigId,
    ]))!.failing_since;
  return { server, send, failing, opened: server.connections, noops: () => noops };
}

const all = (n: number) => ({ status: "completed", sent_count: n, failed_count: 0 });

async function forgotten() {
  const proxy = await startSilentProxy(9);
  const portOf = async (port: number) => {
    proxy.target(port);
    return proxy.port;
  };
  const { server, send, failing, opened } = await kept(() => undefined, { portOf });
  expect(opened).toBeGreaterThan(1);
  await sleep(IDLE_MS);
  proxy.swallow();
  const began = Date.now();
  const id = await send(RECEIPTS);
  await sleep(1_000);
  proxy.pass();
  expect(await sending.finished(id, 20_000)).toMatchObject(all(RECEIPTS));
  expect(Date.now() - began).toBeLessThan(15_000);
  expect([server.accepted, server.doubled, await failing()]).toEqual([60 + RECEIPTS, [], null]);
  await proxy.stop();
}

async function alive(answer: Answer, pipelining = true) {
  const { server, send, opened, noops } = await kept(() => answer, { pipelining });
  await sleep(IDLE_MS);
  const id = await send(1);
  expect(await sending.finished(id)).toMatchObject(all(1));
  expect([server.accepted, server.connections, server.protocolErrors]).toEqual([61, opened, []]);
  expect(noops()).toBeGreaterThan(0);
  expect(noops()).toBeLessThanOrEqual(opened);
}

async function closing(answer: Answer) {
  const { server, send, failing, opened } = await kept(() => answer);
  await sleep(IDLE_MS);
  const id = await send(RECEIPTS);
  expect(await sending.finished(id, 10_000)).toMatchObject(all(RECEIPTS));
  expect([server.accepted, server.doubled, await failing()]).toEqual([60 + RECEIPTS, [], null]);
  expect(server.connections).toBeGreaterThan(opened);
}

sideBySide({
  "a firewall has forgotten them: they are given up within seconds, all at a time": forgotten,
  "the server is there: mail goes by the connection that is open": () => alive(undefined),
  "the server is there and does not know NOOP": () => alive("500 5.5.2 What?"),
  "the server is there and offers no PIPELINING": () => alive(undefined, false),
  "the server says 421 when it is asked: mail goes by a new connection, and the server is not paused": () =>
    closing("421 4.4.2 Idle for too long"),
  "the server closes the connection when it is asked": () => closing({ drop: true }),
});
