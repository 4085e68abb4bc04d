/**
 * Sessions that cannot be opened: a temporary failure stops no campaign, and an error that only the user can fix is
 * tried again once it is fixed.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { query, queryOne } from "../../../models/database/db.ts";
import { resume } from "../../../services/campaigns/lifecycle/resume.ts";
import type { Ctx } from "../../../services/lib/caller.ts";
import { updateConfig } from "../../../services/smtp-sender/configs/smtp-configs.ts";
import type { ConfigPatch } from "../../../services/smtp-sender/contract-configs.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";
import { asOwner, useSending } from "../../support/sending.ts";

const sending = useSending();
const certificate = selfMadeCertificate();
const doors: Server[] = [];
const sockets: Socket[] = [];

beforeAll(() => setDefaultCACertificates([...getCACertificates("bundled"), certificate.cert]));
afterAll(() => setDefaultCACertificates(getCACertificates("bundled")));
afterEach(() => {
  for (const door of doors.splice(0)) door.close();
  for (const socket of sockets.splice(0)) socket.destroy();
});

/**
 * Proxy in front of a server: connection n is passed on, or handled differently. `open`: number of connections passed
 * on now.
 */
async function doorOf(port: number, treat: (n: number, socket: Socket, open: number) => boolean): Promise<number> {
  let n = 0;
  let open = 0;
  const door = createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    if (treat(++n, socket, open)) return;
    open++;
    const server = connect(port, "127.0.0.1").on("error", () => {});
    socket.on("close", () => {
      open--;
      server.destroy();
    });
    server.on("close", () => socket.destroy());
    socket.pipe(server).pipe(socket);
  }).listen(0, "127.0.0.1");
  doors.push(door);
  await once(door, "listening");
  return (door.address() as AddressInfo).port;
}

const reset = (socket: Socket) => {
  socket.once("data", () => socket.resetAndDestroy());
  return true;
};

async function tenant(port: number, recipients: number, maxConnections = 10, tlsMode = "implicit") {
  const companyId = await sending.company();
  const endpoint = { host: "localhost", port };
  const smtpConfigId = await sending.smtpConfig(companyId, endpoint, { useTls: true, maxConnections });
  await query("update smtp_configs set tls_mode = $2 where id = $1", [smtpConfigId, tlsMode]);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients });
  return { companyId, smtpConfigId, id };
}

const serverRow = (id: string) =>
  queryOne<{
    last_error: string | null;
    failing_since: Date | null;
    worked_at: Date | null;
    [column: string]: unknown;
  }>("select last_error, failing_since, worked_at from smtp_configs where id = $1", [id]);

test.each<[string, number, (n: number, socket: Socket, open: number) => boolean]>([
  [
    "the fourth connection at a time gets a plain 421 (Exim with smtp_accept_max_per_host)",
    500,
    (_n, socket, open) => {
      if (open >= 3) socket.end("421 Too many concurrent SMTP connections; please try again later\r\n");
      return open >= 3;
    },
  ],
  ["the very first handshake is reset", 10, (n, socket) => n === 1 && reset(socket)],
  ["the first three handshakes are reset", 10, (n, socket) => n <= 3 && reset(socket)],
  ["one handshake is reset while others are open", 1_000, (n, socket) => n === 4 && reset(socket)],
])("all mails arrive once with implicit TLS, %s", async (_what, recipients, treat) => {
  const server = await sending.startServer({ tls: "implicit", certificate, delayMs: { DOT: 2 } });
  const { id, smtpConfigId } = await tenant(await doorOf(server.port, treat), recipients);
  sending.engine();
  const counts = { status: "completed", sent_count: recipients, failed_count: 0, error: null };
  expect(await sending.finished(id)).toMatchObject(counts);
  expect(server.accepted).toBe(recipients);
  expect(server.doubled).toEqual([]);
  expect(await serverRow(smtpConfigId)).toMatchObject({ last_error: null, failing_since: null });
});

test("all mails arrive if STARTTLS is refused temporarily at first", async () => {
  let refusals = 2;
  const server = await sending.startServer({
    tls: "starttls",
    certificate,
    answer: ({ verb }) => (verb === "STARTTLS" && refusals-- > 0 ? "454 4.7.0 TLS not available" : undefined),
  });
  const { id } = await tenant(server.port, 10, 10, "starttls");
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 10, error: null });
});

test("a password changed at the server is reported on the configuration; corrected and resumed, all is delivered", async () => {
  const auth = { user: "me", pass: "old password" };
  const server = await sending.startServer({ tls: "implicit", certificate, auth, delayMs: { DOT: 5 } });
  const { companyId, smtpConfigId, id } = await tenant(server.port, 300, 1);
  const change = (params: ConfigPatch) => updateConfig(asOwner(companyId, params));
  await change({ id: smtpConfigId, username: auth.user, password: auth.pass });
  sending.engine();
  await server.received(20);
  auth.pass = "new password";
  server.dropAll();
  const stopped = await sending.finished(id);
  expect(stopped).toMatchObject({ status: "failed", error: expect.stringMatching(/refused the login: .*535/) });
  expect(await serverRow(smtpConfigId)).toMatchObject({ last_error: stopped.error, failing_since: expect.any(Date) });

  const patched = await change({ id: smtpConfigId, password: auth.pass });
  expect(patched).toMatchObject({ working: true, last_error: null, backing_off_until: null });
  await sending.engines[0]!.servers.reload(smtpConfigId);
  await resume({ meta: { companyId }, emit: async () => {} } as unknown as Ctx, id);
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 300, failed_count: 0 });
  expect(await serverRow(smtpConfigId)).toMatchObject({ last_error: null, failing_since: null });
});
