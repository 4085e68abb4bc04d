/** Bounces read out of a real Dovecot: each once, whatever dies meanwhile, and nothing is deleted. Needs root. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { ImapFlow } from "imapflow";
import { BounceMailbox } from "../../models/bounce-mailbox.ts";
import { query, queryOne } from "../../models/database/db.ts";
import { MailboxReaders } from "../../services/bounces/mailbox/readers.ts";
import { readReport } from "../../services/bounces/reports/read-report.ts";
import { type Intake, startIntake } from "../../services/bounces/take-in.ts";
import { newId } from "../../services/lib/ids.ts";
import { seal } from "../../services/lib/secrets.ts";
import { newWorld, type World } from "../integration/tracking/world.ts";
import { type App, startApp } from "../support/app.ts";
import { selfMadeCertificate } from "../support/certificate.ts";
import { type Dovecot, startDovecot } from "../support/mta/dovecot.ts";
import { trusted } from "../support/mta/trusted.ts";
import { startService } from "../support/service-process.ts";

jest.setTimeout(180_000);

const PASSWORD = "mailbox-secret";
const MIB = 1024 ** 2;

let app: App;
let dovecot: Dovecot;
/** Made here, the nodes of a test. */
let nodes: { readers: MailboxReaders; intake: Intake; timer: NodeJS.Timeout }[] = [];
const logged: string[] = [];

beforeAll(async () => {
  dovecot = await startDovecot({ password: PASSWORD });
  app = await startApp({ services: [] });
});
afterEach(async () => {
  for (const { readers, intake, timer } of nodes) {
    clearInterval(timer);
    await readers.stop();
    await intake.idle();
  }
  nodes = [];
  await query("delete from bounce_mailboxes");
});
afterAll(async () => {
  await app?.stop();
  await dovecot?.stop();
});

/** What a process of the bounces service does for mailboxes, faster. */
function newNode(): MailboxReaders {
  const intake = startIntake(() => {});
  const readers = new MailboxReaders({ intake, readReport }, (sentence) => logged.push(sentence));
  const look = () => void readers.look().catch(() => {});
  look();
  nodes.push({ readers, intake, timer: setInterval(look, 200) });
  return readers;
}

async function until(what: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 50_000; !(await what()); await sleep(50)) {
    if (Date.now() > deadline) throw new Error(`It did not happen in time\n${logged.slice(-5).join("\n")}`);
  }
}

interface Box {
  id: string;
  user: string;
}
async function newBox({ companyId }: World, given: Partial<Record<string, unknown>> = {}): Promise<Box> {
  const id = newId();
  const row = {
    host: "127.0.0.1",
    port: dovecot.imapPort,
    username: `box-${id.slice(-8)}@to.example`,
    password: PASSWORD,
    use_tls: false,
    folder: "INBOX",
    processed_folder: "Processed",
    ...given,
  };
  await query(
    "insert into smtp_configs (id, company_id, name, host, port, sender_email) values ($1, $2, 'S', 'localhost', 25, 'a@b.example')",
    [id, companyId],
  );
  await query(
    `insert into bounce_mailboxes (id, company_id, host, port, username, password_sealed, use_tls, folder, processed_folder, origin)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      id,
      companyId,
      row.host,
      row.port,
      row.username,
      seal(row.password as string, id),
      row.use_tls,
      row.folder,
      row.processed_folder,
      BounceMailbox.originOf({
        companyId,
        host: row.host as string,
        username: row.username as string,
        folder: row.folder as string,
      }),
    ],
  );
  return { id, user: row.username as string };
}

type User = Pick<Box, "user"> & { port?: number };

/** A user of the mailbox. */
async function withMailbox<T>({ user, port }: User, work: (client: ImapFlow) => Promise<T>): Promise<T> {
  const options = { host: "127.0.0.1", port: port ?? dovecot.imapPort, secure: false, logger: false as const };
  const client = new ImapFlow({ ...options, doSTARTTLS: false, auth: { user, pass: PASSWORD }, disableAutoIdle: true });
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.logout();
  }
}
const put = (box: User, mails: readonly string[], folder = "INBOX") =>
  withMailbox(box, async (client) => {
    for (const mail of mails) await client.append(folder, mail);
  });
const countIn = (box: User, folder: string) =>
  withMailbox(box, async (client) => {
    const status = await client.status(folder, { messages: true }).catch(() => false as const);
    return status ? status.messages! : -1;
  });

const bounceOf = (recipient: string, filler = ""): string =>
  [
    "From: MAILER-DAEMON@mx.example",
    "To: bounces@acme.example",
    "Subject: Undelivered Mail Returned to Sender",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "Your mail could not be delivered.",
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example",
    "",
    `Final-Recipient: rfc822; ${recipient}`,
    "Action: failed",
    "Status: 5.1.1",
    "Diagnostic-Code: smtp; 550 5.1.1 User unknown",
    "",
    "--b",
    "Content-Type: text/rfc822-headers",
    "",
    "Subject: News",
    "",
    `${filler}--b--`,
    "",
  ].join("\r\n");

const inbound = ({ companyId }: World) =>
  query<{ recipient: string; result: string; via: string }>(
    "select recipient, result, via from inbound_messages where company_id = $1 order by recipient",
    [companyId],
  );
const isRead = (world: World, n: number) => async () => (await inbound(world)).length >= n;
const stateOf = async ({ id }: Box) =>
  (await queryOne<{ last_error: string | null; reader: string | null; failures: number }>(
    "select last_error, reader, failures from bounce_mailboxes where id = $1",
    [id],
  ))!;
const expected = ({ mails }: World) =>
  mails
    .map(({ email }) => ({ recipient: email, result: "bounced", via: "imap" }))
    .toSorted((a, b) => (a.recipient < b.recipient ? -1 : 1));

/** Between a reader and Dovecot: what `onCommand` says true to does not pass, and nothing after it. */
async function proxy(onCommand: (text: string) => boolean): Promise<{ port: number; server: Server; cut(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(dovecot.imapPort, "127.0.0.1");
    let silent = false;
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => {}));
    client.on("data", (data) => {
      silent ||= onCommand(data.toString("latin1"));
      if (!silent) upstream.write(data);
    });
    upstream.on("data", (data) => client.write(data));
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, server, cut };
}

test("what is there is taken in and moved, and so is what comes later; what is no bounce too, and nothing is deleted", async () => {
  const world = await newWorld(3);
  const box = await newBox(world);
  const [one, two, three] = world.mails.map(({ email }) => bounceOf(email)) as [string, string, string];
  await put(box, [one, two, "From: ann@example.com\r\nSubject: Hello\r\n\r\nLunch?\r\n"]);
  newNode();
  await until(isRead(world, 3));
  // The look each minute would come too late for `until`: IDLE announces it.
  await put(box, [three]);
  await until(isRead(world, 4));
  await until(async () => (await countIn(box, "INBOX")) === 0);
  expect(await countIn(box, "Processed")).toBe(4);
  expect((await inbound(world)).filter(({ result }) => result === "bounced")).toEqual(expected(world));
  expect(await stateOf(box)).toMatchObject({ last_error: null, failures: 0 });
});

test("two nodes and two configurations of one mailbox: one reads, each mail is taken in and moved once", async () => {
  const world = await newWorld(150);
  const box = await newBox(world);
  await newBox(world, { username: box.user });
  await put(
    box,
    world.mails.map(({ email }) => bounceOf(email)),
  );
  const [first, second] = [newNode(), newNode()];
  await until(isRead(world, 150));
  await until(async () => (await countIn(box, "INBOX")) === 0);
  expect(await inbound(world)).toEqual(expected(world));
  expect(await countIn(box, "Processed")).toBe(150);
  expect(first.size + second.size).toBe(1);
});

test("a node that stops leaves its mailbox to another one at once", async () => {
  const world = await newWorld(2);
  const box = await newBox(world);
  const first = newNode();
  await until(async () => first.size === 1);
  await put(box, [bounceOf(world.mails[0]!.email)]);
  await until(isRead(world, 1));
  await first.stop();
  expect(await stateOf(box)).toMatchObject({ reader: null });
  newNode();
  await put(box, [bounceOf(world.mails[1]!.email)]);
  await until(isRead(world, 2));
  expect(await inbound(world)).toEqual(expected(world));
});

test("killed between commit and move: the next one moves what was taken in, and takes nothing in twice", async () => {
  const world = await newWorld(3);
  let moves = 0;
  const between = await proxy((text) => / MOVE /.test(text) && ++moves > 0);
  const box = await newBox(world, { port: between.port });
  await put(
    box,
    world.mails.map(({ email }) => bounceOf(email)),
  );
  const killed = await startService({
    services: ["bounces"],
    env: {
      ...process.env,
      DATABASE_URL: app.databaseUrl,
      SECRET_KEY: "test-secret-test-secret-test-secret",
      ALLOW_PRIVATE_NETWORKS: "true",
    },
  });
  await until(async () => moves > 0);
  process.kill(killed.child.pid, "SIGKILL");
  await killed.child.stop();
  expect(await inbound(world)).toEqual(expected(world));
  expect(await countIn(box, "INBOX")).toBe(3);
  between.cut();
  between.server.close();
  await query("update bounce_mailboxes set port = $2, lease_until = now() where id = $1", [box.id, dovecot.imapPort]);
  newNode();
  await until(async () => (await countIn(box, "INBOX")) === 0);
  expect(await countIn(box, "Processed")).toBe(3);
  expect(await inbound(world)).toEqual(expected(world));
});

test("numbers begin anew (UIDVALIDITY): new mails with old numbers are read, and none twice", async () => {
  const world = await newWorld(4);
  const box = await newBox(world, { folder: "Bounces" });
  const texts = world.mails.map(({ email }) => bounceOf(email));
  await withMailbox(box, (client) => client.mailboxCreate("Bounces"));
  await put(box, texts.slice(0, 2), "Bounces");
  const node = newNode();
  await until(isRead(world, 2));
  await until(async () => (await countIn(box, "Bounces")) === 0);
  await node.stop();
  // The numbers of the folder that is made anew begin with 1 again.
  await withMailbox(box, async (client) => {
    await client.mailboxDelete("Bounces");
    await client.mailboxCreate("Bounces");
  });
  await put(box, texts.slice(2), "Bounces");
  newNode();
  await until(isRead(world, 4));
  await until(async () => (await countIn(box, "Bounces")) === 0);
  expect(await inbound(world)).toEqual(expected(world));
  expect(await countIn(box, "Processed")).toBe(4);
});

test("a server that restarts is read again, and the reason is shown meanwhile", async () => {
  const world = await newWorld(2);
  const box = await newBox(world);
  newNode();
  await put(box, [bounceOf(world.mails[0]!.email)]);
  await until(isRead(world, 1));
  await dovecot.restart(async () => {
    await until(async () => /^The (?:connection to the )?IMAP server/.test((await stateOf(box)).last_error ?? ""));
  });
  await put(box, [bounceOf(world.mails[1]!.email)]);
  await until(isRead(world, 2));
  await until(async () => (await stateOf(box)).last_error === null);
  expect(await inbound(world)).toEqual(expected(world));
});

test.each([
  ["a folder that is not there", { folder: "Nowhere" }, 'The mailbox has no folder "Nowhere".'],
  ["a wrong password", { password: "wrong" }, "refused the login"],
  ["TLS that is not offered", { use_tls: true }, "offers no STARTTLS"],
])("%s is shown on the configuration, and tried again later", async (_what, given, sentence) => {
  const world = await newWorld();
  const box = await newBox(world, given);
  newNode();
  await until(async () => (await stateOf(box)).failures > 0);
  const { last_error: error, reader } = await stateOf(box);
  expect(error).toContain(sentence);
  expect(error).not.toContain("wrong");
  expect(reader).toBeNull();
});

test("of a mail of 30 MB the first MiB is read, and the whole of it is moved", async () => {
  const world = await newWorld();
  const box = await newBox(world);
  const large = bounceOf(world.mails[0]!.email, `${"x".repeat(998)}\r\n`.repeat(30_000));
  await put(box, [large]);
  newNode();
  await until(isRead(world, 1));
  expect(await inbound(world)).toEqual(expected(world));
  const { bytes } = (await queryOne<{ bytes: number }>("select max(length(raw)) as bytes from inbound_raws"))!;
  expect(bytes).toBeLessThanOrEqual(MIB);
  await until(async () => (await countIn(box, "INBOX")) === 0);
  const sizes = await withMailbox(box, async (client) => {
    await client.mailboxOpen("Processed");
    return (await client.fetchAll("1:*", { size: true })).map(({ size }) => size);
  });
  expect(sizes).toEqual([large.length]);
});

test("where the server keeps all folders below INBOX, they are found and made there", async () => {
  const other = await startDovecot({ password: PASSWORD, prefix: "INBOX." });
  try {
    const world = await newWorld(2);
    const box = {
      ...(await newBox(world, { port: other.imapPort, folder: "Bounces", processed_folder: "Done" })),
      port: other.imapPort,
    };
    await withMailbox(box, (client) => client.mailboxCreate("Bounces"));
    const node = newNode();
    await put(box, [bounceOf(world.mails[0]!.email)], "Bounces");
    await until(isRead(world, 1));
    await node.stop();
    // The folder is there now, and found by the name that it was given.
    newNode();
    await put(box, [bounceOf(world.mails[1]!.email)], "Bounces");
    await until(isRead(world, 2));
    await until(async () => (await countIn(box, "INBOX.Bounces")) === 0);
    expect(await countIn(box, "INBOX.Done")).toBe(2);
    expect(await inbound(world)).toEqual(expected(world));
  } finally {
    await Promise.all(nodes.map(({ readers }) => readers.stop()));
    await other.stop();
  }
});

test("STARTTLS: a certificate that is not trusted is refused, a trusted one of the host's name is not", async () => {
  const certificate = selfMadeCertificate();
  const files = trusted(certificate);
  const before = getCACertificates("default");
  const other = await startDovecot({ password: PASSWORD, chain: files.chain });
  try {
    const world = await newWorld();
    const box = await newBox(world, { host: "localhost", port: other.imapPort, use_tls: true });
    newNode();
    await until(async () => (await stateOf(box)).failures > 0);
    expect((await stateOf(box)).last_error).toMatch(/^No TLS with the IMAP server .*certificate/);
    setDefaultCACertificates([...before, certificate.cert]);
    await query("update bounce_mailboxes set next_attempt_at = now()");
    await until(async () => (await stateOf(box)).last_error === null);
  } finally {
    setDefaultCACertificates(before);
    await other.stop();
    files.remove();
  }
});
