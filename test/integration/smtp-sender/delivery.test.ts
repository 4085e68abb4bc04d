import { useSending } from "../../support/sending.ts";
import type { SmtpServer, SmtpServerOptions } from "../../support/smtp-server.ts";

const sending = useSending();
let server: SmtpServer;
let companyId: string;

async function start(options: SmtpServerOptions = {}) {
  server = await sending.startServer(options);
  companyId = await sending.company();
  return sending.smtpConfig(companyId, server);
}

test("every recipient of a campaign gets one email", async () => {
  const smtpConfigId = await start();
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 1_234, chunk: 100 });
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1_234, failed_count: 0 });
  expect(server.accepted).toBe(1_234);
  expect(server.doubled).toEqual([]);
  expect(server.protocolErrors).toEqual([]);
  expect(await sending.states(id)).toEqual({ sent: 1_234 });
  const [first] = await sending.recipients(id);
  expect(first).toMatchObject({ attempts: 1, smtp_response: "250 2.0.0 Queued", error: null });
});
