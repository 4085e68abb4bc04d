/** Reads bounces from a real Dovecot: each once, whatever process dies, and nothing is deleted. Needs root. */
import { setTimeout as sleep } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { query, queryOne } from "../../models/database/db.ts";
import { type Ingester, startIngester } from "../../services/bounces/ingest.ts";
import { MailboxReaders } from "../../services/bounces/mailbox/readers.ts";
import { readReport } from "../../services/bounces/reports/read-report.ts";
import { newWorld, type World } from "../integration/tracking/world.ts";
import { type App, startApp } from "../support/app.ts";
import { selfMadeCertificate } from "../support/certificate.ts";
import { BounceBoxes, type Box, bounceOf, expected, inbound, PASSWORD } from "../support/mta/bounce-boxes.ts";
import { type Dovecot, startDovecot } from "../support/mta/dovecot.ts";
import { trusted } from "../support/mta/trusted.ts";
import { startService } from "../support/service-process.ts";

jest.setTimeout(180_000);

const MIB = 1024 ** 2;

let app: App;
let dovecot: Dovecot;
let boxes: BounceBoxes;
/** Nodes created by a test. */
let nodes: { readers: MailboxReaders; ingester: Ingester; timer: NodeJS.Timeout }[] = [];
const logged: string[] = [];

beforeAll(async () => {
  dovecot = await startDovecot({ password: PASSWORD });
  boxes = new BounceBoxes(dovecot.imapPort);
  app = await startApp({ services: [] });
});
afterEach(async () => {
  for (const { readers, ingester, timer } of nodes) {
    clearInterval(timer);
    await readers.stop();
    await ingester.idle();
  }
  nodes = [];
  await query("delete from bounce_mailboxes");
});
afterAll(async () => {
  await app?.stop();
  await dovecot?.stop();
});

/** The bounces service's mailbox work, at a faster pace. */
function newNode(beforeTakingIn = async () => {}): MailboxReaders {
  const ingester = startIngester(() => {});
  const ingest: Ingester["ingest"] = async (returned) => {
    await beforeTakingIn();
    return ingester.ingest(returned);
  };
  const readers = new MailboxReaders({ ingester: { ingest }, readReport }, (sentence) => logged.push(sentence));
  const look = () => void readers.refresh().catch(() => {});
  look();
  nodes.push({ readers, ingester, timer: setInterval(look, 200) });
  return readers;
}

async function until(what: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 50_000; !(await what()); await sleep(50)) {
    if (Date.now() > deadline) throw new Error(`It did not happen in time\n${logged.slice(-5).join("\n")}`);
  }
}

const isRead = (world: World, n: number) => async () => (await inbound(world)).length >= n;
const stateOf = async ({ id }: Box) =>
  (await queryOne<{ last_error: string | null; reader: string | null; failures: number }>(
    "select last_error, reader, failures from bounce_mailboxes where id = $1",
    [id],
  ))!;
test("existing and later mails are processed and moved, even if not bounces, and nothing is deleted", async () => {
  const world = await newWorld(3);
  const box = await boxes.add(world);
  const [one, two, three] = world.mails.map(({ email }) => bounceOf(email)) as [string, string, string];
  await boxes.put(box, [one, two, "From: ann@example.com\r\nSubject: Hello\r\n\r\nLunch?\r\n"]);
  newNode();
  await until(isRead(world, 3));
  // IDLE announces it; the check every minute would be too late for `until`.
  await boxes.put(box, [three]);
  await until(isRead(world, 4));
  await until(async () => (await boxes.countIn(box, "INBOX")) === 0);
  expect(await boxes.countIn(box, "Processed")).toBe(4);
  expect((await inbound(world)).filter(({ result }) => result === "bounced")).toEqual(expected(world));
  expect(await stateOf(box)).toMatchObject({ last_error: null, failures: 0 });
});

test("a mail that arrives during processing is read at once", async () => {
  const world = await newWorld(2);
  const box = await boxes.add(world);
  const [one, two] = world.mails.map(({ email }) => bounceOf(email)) as [string, string];
  let put: Promise<void> | undefined;
  newNode(() => {
    put ??= boxes.put(box, [two]);
    return put;
  });
  await boxes.put(box, [one]);
  // The check every minute would be too late for `until`, and IDLE does not announce earlier messages.
  await until(isRead(world, 2));
  expect(await inbound(world)).toEqual(expected(world));
});

test("two nodes and two configurations of one mailbox share it: one reads, and each mail is processed and moved once", async () => {
  const world = await newWorld(150);
  const box = await boxes.add(world);
  await boxes.add(world, { username: box.user });
  await boxes.put(
    box,
    world.mails.map(({ email }) => bounceOf(email)),
  );
  const [first, second] = [newNode(), newNode()];
  await until(isRead(world, 150));
  await until(async () => (await boxes.countIn(box, "INBOX")) === 0);
  expect(await inbound(world)).toEqual(expected(world));
  expect(await boxes.countIn(box, "Processed")).toBe(150);
  expect(first.size + second.size).toBe(1);
});

test("a node that stops leaves its mailbox to another one at once", async () => {
  const world = await newWorld(2);
  const box = await boxes.add(world);
  const first = newNode();
  await until(async () => first.size === 1);
  await boxes.put(box, [bounceOf(world.mails[0]!.email)]);
  await until(isRead(world, 1));
  await first.stop();
  expect(await stateOf(box)).toMatchObject({ reader: null });
  newNode();
  await boxes.put(box, [bounceOf(world.mails[1]!.email)]);
  await until(isRead(world, 2));
  expect(await inbound(world)).toEqual(expected(world));
});

test("a node killed between commit and move leaves processed mails to the next node, which moves them without processing them again", async () => {
  const world = await newWorld(3);
  let moves = 0;
  const between = await boxes.proxy((text) => / MOVE /.test(text) && ++moves > 0);
  const box = await boxes.add(world, { port: between.port });
  await boxes.put(
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
  expect(await boxes.countIn(box, "INBOX")).toBe(3);
  between.cut();
  between.server.close();
  await query("update bounce_mailboxes set port = $2, lease_until = now() where id = $1", [box.id, dovecot.imapPort]);
  newNode();
  await until(async () => (await boxes.countIn(box, "INBOX")) === 0);
  expect(await boxes.countIn(box, "Processed")).toBe(3);
  expect(await inbound(world)).toEqual(expected(world));
});

test("a new UIDVALIDITY makes new mails with old numbers readable, and none is read twice", async () => {
  const world = await newWorld(4);
  const box = await boxes.add(world, { folder: "Bounces" });
  const texts = world.mails.map(({ email }) => bounceOf(email));
  await boxes.use(box, (client) => client.mailboxCreate("Bounces"));
  await boxes.put(box, texts.slice(0, 2), "Bounces");
  const node = newNode();
  await until(isRead(world, 2));
  await until(async () => (await boxes.countIn(box, "Bounces")) === 0);
  await node.stop();
  // A recreated folder numbers its messages from 1 again.
  await boxes.use(box, async (client) => {
    await client.mailboxDelete("Bounces");
    await client.mailboxCreate("Bounces");
  });
  await boxes.put(box, texts.slice(2), "Bounces");
  newNode();
  await until(isRead(world, 4));
  await until(async () => (await boxes.countIn(box, "Bounces")) === 0);
  expect(await inbound(world)).toEqual(expected(world));
  expect(await boxes.countIn(box, "Processed")).toBe(4);
});

test("a mailbox whose server restarts is read again, and the reason is shown meanwhile", async () => {
  const world = await newWorld(2);
  const box = await boxes.add(world);
  newNode();
  await boxes.put(box, [bounceOf(world.mails[0]!.email)]);
  await until(isRead(world, 1));
  await dovecot.restart(async () => {
    await until(async () => /^The (?:connection to the )?IMAP server/.test((await stateOf(box)).last_error ?? ""));
  });
  await boxes.put(box, [bounceOf(world.mails[1]!.email)]);
  await until(isRead(world, 2));
  await until(async () => (await stateOf(box)).last_error === null);
  expect(await inbound(world)).toEqual(expected(world));
});

test.each([
  ["a folder that is not there", { folder: "Nowhere" }, 'The mailbox has no folder "Nowhere".'],
  ["a wrong password", { password: "wrong" }, "refused the login"],
  ["TLS that is not offered", { use_tls: true }, "offers no STARTTLS"],
])("%s is shown on the configuration, and the mailbox is tried again later", async (_what, given, sentence) => {
  const world = await newWorld();
  const box = await boxes.add(world, given);
  newNode();
  await until(async () => (await stateOf(box)).failures > 0);
  const { last_error: error, reader } = await stateOf(box);
  expect(error).toContain(sentence);
  expect(error).not.toContain("wrong");
  expect(reader).toBeNull();
});

test("only the first MiB of a mail of 30 MB is read, and all of it is moved", async () => {
  const world = await newWorld();
  const box = await boxes.add(world);
  const large = bounceOf(world.mails[0]!.email, `${"x".repeat(998)}\r\n`.repeat(30_000));
  await boxes.put(box, [large]);
  newNode();
  await until(isRead(world, 1));
  expect(await inbound(world)).toEqual(expected(world));
  const { bytes } = (await queryOne<{ bytes: number }>("select max(length(raw)) as bytes from inbound_raws"))!;
  expect(bytes).toBeLessThanOrEqual(MIB);
  await until(async () => (await boxes.countIn(box, "INBOX")) === 0);
  const sizes = await boxes.use(box, async (client) => {
    await client.mailboxOpen("Processed");
    return (await client.fetchAll("1:*", { size: true })).map(({ size }) => size);
  });
  expect(sizes).toEqual([large.length]);
});

test("folders are found and created below INBOX if the server requires it", async () => {
  const other = await startDovecot({ password: PASSWORD, prefix: "INBOX." });
  try {
    const world = await newWorld(2);
    const box = {
      ...(await boxes.add(world, { port: other.imapPort, folder: "Bounces", processed_folder: "Done" })),
      port: other.imapPort,
    };
    await boxes.use(box, (client) => client.mailboxCreate("Bounces"));
    const node = newNode();
    await boxes.put(box, [bounceOf(world.mails[0]!.email)], "Bounces");
    await until(isRead(world, 1));
    await node.stop();
    // The folder exists now and is found by its configured name.
    newNode();
    await boxes.put(box, [bounceOf(world.mails[1]!.email)], "Bounces");
    await until(isRead(world, 2));
    await until(async () => (await boxes.countIn(box, "INBOX.Bounces")) === 0);
    expect(await boxes.countIn(box, "INBOX.Done")).toBe(2);
    expect(await inbound(world)).toEqual(expected(world));
  } finally {
    await Promise.all(nodes.map(({ readers }) => readers.stop()));
    await other.stop();
  }
});

test("an untrusted certificate is refused with STARTTLS, and a trusted one for the host is accepted", async () => {
  const certificate = selfMadeCertificate();
  const files = trusted(certificate);
  const before = getCACertificates("default");
  const other = await startDovecot({ password: PASSWORD, chain: files.chain });
  try {
    const world = await newWorld();
    const box = await boxes.add(world, { host: "localhost", port: other.imapPort, use_tls: true });
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
