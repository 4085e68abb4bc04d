/** Replies of a tenant's own server are stored and shown: none may delay the results of others on the node. */
import { useSending } from "../../support/sending.ts";
import type { startSmtpServer } from "../../support/smtp-server.ts";

const NASTY = "\0\u0001\u001b[2J\u00ff\u00fe \u00ed\u00a0\u0080 \\u0000 ';--\u0085";

const sending = useSending();

async function campaign(options: Parameters<typeof startSmtpServer>[0], login = {}) {
  const server = await sending.startServer(options);
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, login);
  return sending.campaign({ companyId, smtpConfigId, recipients: 30 });
}

test.each([
  ["CONNECT", `554 5.7.1 ${NASTY}`, undefined],
  ["EHLO", `554 5.7.1 ${NASTY}`, undefined],
  ["MAIL", `550 5.7.1 ${NASTY}`, "failed"],
  ["RCPT", `550 5.1.1 ${NASTY}`, "failed"],
  ["RCPT", `450 4.2.0 ${NASTY}`, undefined],
  ["DATA", `554 5.7.1 ${NASTY}`, "failed"],
  ["DOT", `550 5.6.0 ${NASTY}`, "failed"],
  ["DOT", `250 ${NASTY}`, "completed"],
])("%s answered with %j is recorded safely", async (verb, text, ends) => {
  const id = await campaign({ answer: (command) => (command.verb === verb ? text : undefined) });
  const neighbour = await campaign({});
  sending.engine();
  expect(await sending.finished(neighbour)).toMatchObject({ status: "completed", sent_count: 30 });
  if (ends) expect((await sending.finished(id)).status).toBe(ends);
  for (const { error, smtp_response: said } of await sending.recipients(id)) {
    expect(`${error}${said}`.includes("\0")).toBe(false);
  }
});

test("a login refused in such words stops the campaign", async () => {
  const answer = ({ verb }: { verb: string }) => (verb === "AUTH" ? `535 5.7.8 ${NASTY}` : undefined);
  const id = await campaign({ auth: { user: "u", pass: "p" }, answer }, { username: "u", password: "p" });
  const neighbour = await campaign({});
  sending.engine();
  expect(await sending.finished(neighbour)).toMatchObject({ status: "completed", sent_count: 30 });
  const { status, error } = await sending.finished(id);
  expect([status, error]).toEqual(["failed", expect.stringContaining("refused the login")]);
});
