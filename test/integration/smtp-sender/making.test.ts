/** An email is rendered when a connection asks for it, not before: waiting recipients hold only its inputs. */
import { plainMail, useSending } from "../../support/sending.ts";
import type { SmtpServerOptions } from "../../support/smtp-server.ts";

const CONNECTIONS = 4;

const sending = useSending();

async function start(recipients: number, options: SmtpServerOptions = {}) {
  const server = await sending.startServer(options);
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: CONNECTIONS });
  return { server, id: await sending.campaign({ companyId, smtpConfigId, recipients }) };
}

test("no more mails of a hundred that wait for a slow server are rendered than its connections handle", async () => {
  const { server, id } = await start(160, { delayMs: { DOT: 50 } });
  let [made, mostInHand, mostWaiting] = [0, 0, 0];
  const engine = sending.engine({
    render: async (_id, rows) =>
      rows.map((row) => () => {
        made++;
        mostInHand = Math.max(mostInHand, made - server.accepted);
        for (const { ready } of engine.servers.batches()) mostWaiting = Math.max(mostWaiting, ready.length);
        return plainMail(row);
      }),
  });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 160 });
  // A connection has one mail that is being answered and one behind it; answers may still be in transit.
  expect(mostInHand).toBeLessThanOrEqual(3 * CONNECTIONS);
  expect(mostWaiting).toBeGreaterThan(CONNECTIONS);
  expect([made, server.doubled]).toEqual([160, []]);
});

test("each email is rendered once per session, and not again for a reply", async () => {
  const refusedOnce = new Set<string>();
  const { server, id } = await start(40, {
    answer: ({ verb, to, accepted }) => {
      if (verb === "RCPT" && to.startsWith("r7@") && !refusedOnce.has(to)) {
        refusedOnce.add(to);
        return "450 4.2.1 later";
      }
      return verb === "MAIL" && accepted === 5 ? { reply: "421 4.7.0 enough for one session", drop: true } : undefined;
    },
  });
  const made = new Map<string, number>();
  sending.engine({
    retryBaseMs: 100,
    render: async (_id, rows) =>
      rows.map((row) => () => {
        made.set(row.email, (made.get(row.email) ?? 0) + 1);
        return plainMail(row);
      }),
  });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 40 });
  expect(server.doubled).toEqual([]);
  expect(made.get("r7@to.example")).toBeGreaterThanOrEqual(2);
  const again = [...made.values()].reduce((sum, times) => sum + times - 1, 0);
  // A session has at most two mails when it ends: one is refused with the 421, the other had not begun.
  expect(again).toBeLessThanOrEqual(1 + 2 * server.connections);
});

test("slow rendering lets other work of the process run in between", async () => {
  const { id } = await start(60);
  const SLOW_US = 15_000;
  let [madeInTurn, most, turns] = [0, 0, 0];
  const others = setInterval(() => {
    most = Math.max(most, madeInTurn);
    madeInTurn = 0;
    turns++;
  }, 1);
  const cpuUs = (since?: NodeJS.CpuUsage) => {
    const { user, system } = process.threadCpuUsage(since);
    return user + system;
  };
  sending.engine({
    render: async (_id, rows) =>
      rows.map((row) => () => {
        const since = process.threadCpuUsage();
        while (cpuUs(since) < SLOW_US);
        madeInTurn++;
        return plainMail(row);
      }),
  });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 60 });
  clearInterval(others);
  // Rendering runs for 20 ms per event-loop turn, so two; timers run once per turn, or every second one.
  expect(most).toBeLessThanOrEqual(4);
  expect(turns).toBeGreaterThan(60 / 4);
});
