/** A host that was public when it was saved and is private when its email is due, as after a DNS change. */
import { createServer, type Server } from "node:net";
import { type Sending, startSending } from "../../support/sending.ts";

let sending: Sending;
let internal: Server;
let connections = 0;

beforeAll(async () => {
  sending = await startSending();
  internal = createServer((socket) => {
    connections++;
    socket.end("220 internal\r\n");
  });
  await new Promise<void>((listening) => internal.listen(0, "127.0.0.1", listening));
});
afterAll(async () => {
  await sending.stop();
  internal.close();
});

test.each(["127.0.0.1", "localhost", "2130706433", "127.1"])(
  "the host %s is not contacted at delivery either: the campaign stops with the reason",
  async (host) => {
    const { port } = internal.address() as { port: number };
    const companyId = await sending.company();
    const smtpConfigId = await sending.smtpConfig(companyId, { host, port });
    const id = await sending.campaign({ companyId, smtpConfigId, recipients: 20 });
    sending.engine({ allowPrivate: false });
    const counts = await sending.finished(id);
    expect(counts).toMatchObject({ status: "failed", sent_count: 0, failed_count: 20 });
    expect(counts.error).toMatch(/not on the public internet/);
    expect(connections).toBe(0);
    await sending.stopEngines();
  },
);
