/** A copy that cannot be sent keeps nothing waiting: its primary was accepted, and is recorded. */
import { useSending } from "../../support/sending.ts";
import type { SmtpServer, SmtpServerOptions } from "../../support/smtp-server.ts";

const sending = useSending();
let server: SmtpServer;

/** The connection ends behind the first mail that is accepted, before its copy. */
async function dropsAfterFirst(after: (verb: string) => string | undefined, options: SmtpServerOptions = {}) {
  let accepted = 0;
  server = await sending.startServer({
    ...options,
    answer: ({ verb }) => {
      if (accepted > 0) return after(verb);
      if (verb !== "DOT") return undefined;
      accepted++;
      return { reply: "250 2.0.0 Queued", drop: true };
    },
  });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 1, username: "u", password: "p" });
  return sending.campaign({ companyId, smtpConfigId, recipients: [{ email: "a@to.example", cc: ["c@to.example"] }] });
}

test("the server refuses the login from then on: it is not asked again and again", async () => {
  let logins = 0;
  const refuse = (verb: string) => {
    if (verb === "AUTH") logins++;
    return verb === "AUTH" ? "535 5.7.8 No" : undefined;
  };
  const id = await dropsAfterFirst(refuse, { auth: { user: "u", pass: "p" } });
  sending.engine();
  expect(await sending.finished(id, 5_000)).toMatchObject({ sent_count: 1, failed_count: 0 });
  expect(logins).toBeLessThanOrEqual(2);
});

test("the server takes no connections for a while: it is left alone meanwhile, and the copy arrives", async () => {
  const until = Date.now() + 2_500;
  const id = await dropsAfterFirst((verb) => (verb === "CONNECT" && Date.now() < until ? "421 later" : undefined));
  sending.engine({ retryBaseMs: 6_000 });
  await server.received(2);
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1 });
  expect(server.messages.map(({ to }) => to)).toEqual([["a@to.example"], ["c@to.example"]]);
  expect(server.connections).toBeLessThanOrEqual(8);
});

test("the server does not come back: the primary counts as sent all the same", async () => {
  const id = await dropsAfterFirst((verb) => (verb === "CONNECT" ? "421 never" : undefined));
  sending.engine({ retryBaseMs: 60 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1, failed_count: 0 });
});

test("max_per_second holds for mails and their copies together", async () => {
  const PER_SECOND = 20;
  server = await sending.startServer();
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxPerSecond: PER_SECOND });
  const recipients = Array.from({ length: 25 }, (_, n) => ({ email: `a${n}@to.example`, cc: [`c${n}@to.example`] }));
  const id = await sending.campaign({ companyId, smtpConfigId, recipients });
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 25 });
  expect(server.messages).toHaveLength(50);
  for (const { at } of server.messages) {
    const within = server.messages.filter((other) => other.at >= at && other.at < at + 950);
    expect(within.length).toBeLessThanOrEqual(PER_SECOND);
  }
});
