import { setTimeout as sleep } from "node:timers/promises";
import { BounceMailbox } from "../../../models/bounce-mailbox.ts";
import { query, queryOne } from "../../../models/database/db.ts";
import { startIngester } from "../../../services/bounces/ingest.ts";
import { MailboxReaders } from "../../../services/bounces/mailbox/readers.ts";
import { readReport } from "../../../services/bounces/reports/read-report.ts";
import { newId } from "../../../services/lib/ids.ts";
import { seal } from "../../../services/lib/secrets.ts";
import { type App, startApp } from "../../support/app.ts";
import { bounceMessage } from "../../support/bounce-message.ts";
import { type ImapServer, startImapServer } from "../../support/imap-server.ts";
import { newWorld, type World } from "../tracking/world.ts";

describe("bounce mailbox", () => {
  let app: App;
  let imap: ImapServer;
  beforeAll(async () => {
    app = await startApp({
      services: ["bounces"],
      env: { ALLOW_PRIVATE_NETWORKS: "false", ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
    });
  });
  beforeEach(async () => {
    imap = await startImapServer();
  });
  afterEach(async () => {
    await query("delete from bounce_mailboxes");
    await imap.stop();
  });
  afterAll(() => app.stop());

  /** Starts a check now; the service does so every few seconds. */
  const look = () => app.broker.call("bounces.readMailboxes");

  async function until(what: () => boolean | Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + 50_000; !(await what()); await sleep(50)) {
      if (Date.now() > deadline) throw new Error(`It did not happen in time: ${imap.commands.slice(-5).join(" | ")}`);
    }
  }

  async function newBox({ companyId }: World, host = "127.0.0.1", username?: string): Promise<string> {
    const id = newId();
    const login = { host, username: username ?? id };
    await query(
      `insert into smtp_configs (id, company_id, name, host, port, sender_email)
       values ($1, $2, 'S', 'localhost', 25, 'a@b.example')`,
      [id, companyId],
    );
    await BounceMailbox.create({
      ...login,
      id,
      companyId,
      port: imap.port,
      passwordSealed: seal("mailbox secret", id),
      useTls: false,
      folder: "INBOX",
      processedFolder: "Processed",
      origin: BounceMailbox.originOf({ ...login, companyId, folder: "INBOX" }),
    });
    return id;
  }
  const put = (mails: readonly { email: string }[], from = 1) => {
    const raws = mails.map(({ email }, n) => ({ uid: from + n, raw: bounceMessage({ recipient: email }) }));
    imap.folders.get("INBOX")!.push(...raws);
  };
  const came = async ({ companyId }: World) =>
    (
      await query<{ recipient: string; via: string; result: string }>(
        "select recipient, via, result from inbound_messages where company_id = $1 order by recipient",
        [companyId],
      )
    ).map(({ recipient, via, result }) => `${via} ${recipient} ${result}`);
  const expected = (mails: readonly { email: string }[]) => mails.map(({ email }) => `imap ${email} bounced`).sort();
  const stateOf = async (id: string) =>
    (await queryOne<{ last_error: string | null; failures: number; reader: string | null }>(
      "select last_error, failures, reader from bounce_mailboxes where id = $1",
      [id],
    ))!;

  test("messages are ingested, then moved; a lost connection is reopened", async () => {
    const world = await newWorld(3);
    const box = await newBox(world);
    put(world.mails.slice(0, 2));
    await look();
    await until(() => imap.folders.get("Processed")?.length === 2);
    expect(await came(world)).toEqual(expected(world.mails.slice(0, 2)));
    await until(() => imap.commands.includes("IDLE"));
    imap.instead = (_, __, socket) => {
      socket.destroy();
      return "";
    };
    put(world.mails.slice(2), 3);
    await query("update bounce_mailboxes set revision = revision + 1, lease_until = null");
    await look();
    await until(async () => (await stateOf(box)).failures > 0);
    expect((await stateOf(box)).last_error).toMatch(/^The (?:connection to the )?IMAP server/);
    imap.instead = () => undefined;
    await query("update bounce_mailboxes set next_attempt_at = now()");
    await look();
    await until(() => imap.folders.get("Processed")!.length === 3);
    expect(await came(world)).toEqual(expected(world.mails));
    await until(async () => (await stateOf(box)).last_error === null);
  });

  test("a message that cannot be ingested stays and does not block others; it is ingested later, once", async () => {
    const world = await newWorld(3);
    const box = await newBox(world);
    const poisoned = world.mails[1]!;
    await query(`create function refuse_one() returns trigger language plpgsql as $$ begin
      if new.recipient = '${poisoned.email}' then raise 'not now' using errcode = 'check_violation'; end if; return new; end $$`);
    await query(
      "create trigger refuse_one before insert on inbound_messages for each row execute function refuse_one()",
    );
    put(world.mails);
    await look();
    await until(async () => (await stateOf(box)).failures > 0);
    expect((await stateOf(box)).last_error).toBe("Some mails cannot be processed at the moment.");
    expect(imap.folders.get("INBOX")!.map(({ uid }) => uid)).toEqual([2]);
    await query("drop trigger refuse_one on inbound_messages");
    await query("drop function refuse_one");
    await query("update bounce_mailboxes set next_attempt_at = now()");
    await look();
    await until(() => imap.folders.get("Processed")!.length === 3);
    expect(await came(world)).toEqual(expected(world.mails));
  });

  test("messages that could not be moved are not ingested twice", async () => {
    const world = await newWorld(2);
    const box = await newBox(world);
    put(world.mails);
    imap.instead = (command, tag) => (/^UID MOVE/.test(command) ? `${tag} NO over quota\r\n` : undefined);
    for (let tries = 1; tries <= 3; tries++) {
      await query("update bounce_mailboxes set next_attempt_at = now()");
      await look();
      await until(async () => (await stateOf(box)).failures === tries);
    }
    expect((await stateOf(box)).last_error).toBe('Mails cannot be moved to the folder "Processed".');
    expect(await came(world)).toEqual(expected(world.mails));
    expect(imap.folders.get("INBOX")).toHaveLength(2);
  });

  test.each<[what: string, instead: ImapServer["instead"], reason: RegExp]>([
    [
      "a mail of a gigabyte where a MiB was asked for",
      (command) => (/^UID FETCH .*BODY/.test(command) ? "* 1 FETCH (UID 1 BODY[]<0> {1073741824}\r\nx" : undefined),
      /LiteralTooLarge/,
    ],
    [
      "an answer without an end",
      (command) => (/^UID SEARCH/.test(command) ? `* SEARCH ${"1 ".repeat(400_000)}` : undefined),
      /TooLarge/,
    ],
    ["something else than IMAP", () => "HTTP/1.1 400 Bad Request\r\n\r\n", /./],
    ["a farewell", () => "* BYE too many connections\r\n", /./],
    [
      "neither MOVE nor UIDPLUS",
      (command, tag) =>
        command === "CAPABILITY" || /^LOGIN|^AUTHENTICATE/.test(command)
          ? `* CAPABILITY IMAP4rev1\r\n${tag} OK done\r\n`
          : undefined,
      /supports neither MOVE nor UIDPLUS/,
    ],
  ])("%s ends the session with a reason, and nothing is lost", async (_what, instead, reason) => {
    const world = await newWorld();
    const box = await newBox(world);
    put(world.mails);
    imap.instead = (command, tag, socket) => {
      const said = instead(command, tag, socket);
      if (said !== undefined && !said.includes(" OK ")) setTimeout(() => socket.end(), 200);
      return said;
    };
    await look();
    await until(async () => (await stateOf(box)).failures > 0);
    expect((await stateOf(box)).last_error).toMatch(reason);
    expect((await stateOf(box)).last_error!.length).toBeLessThanOrEqual(300);
    expect(imap.folders.get("INBOX")).toHaveLength(1);
    await until(() => imap.clients() === 0);
    imap.instead = () => undefined;
    await query("update bounce_mailboxes set next_attempt_at = now()");
    await look();
    await until(() => imap.folders.get("Processed")?.length === 1);
    expect(await came(world)).toEqual(expected(world.mails));
  });

  test.each(["localhost", "127.0.0.2", "2130706434", "[::1]"])(
    "a mailbox at %s, which nobody has permitted, is not contacted",
    async (host) => {
      const world = await newWorld();
      const box = await newBox(world, host);
      await look();
      await until(async () => (await stateOf(box)).failures > 0);
      expect((await stateOf(box)).last_error).toMatch(/not on the public internet.*ALLOWED_PRIVATE_HOSTS/);
      expect(imap.commands).toEqual([]);
    },
  );

  test("after a change of UIDVALIDITY all messages are new, and none is ingested twice", async () => {
    const world = await newWorld(2);
    await newBox(world);
    put(world.mails.slice(0, 1));
    await look();
    await until(() => imap.folders.get("Processed")?.length === 1);
    await until(() => imap.commands.includes("IDLE"));
    imap.uidValidity++;
    put(world.mails.slice(1));
    await query("update bounce_mailboxes set revision = revision + 1, lease_until = null");
    await look();
    await until(() => imap.folders.get("Processed")!.length === 2);
    expect(await came(world)).toEqual(expected(world.mails));
  });

  test("one node reads it while its lease lasts, even if two configurations name it; then another node does", async () => {
    const world = await newWorld();
    const box = await newBox(world);
    await newBox(world, "127.0.0.1", box);
    await look();
    await until(() => imap.commands.includes("IDLE"));
    expect(await query("select id from bounce_mailboxes where reader is not null")).toEqual([{ id: box }]);
    const other = new MailboxReaders({ ingester: startIngester(() => {}), readReport }, () => {});
    try {
      await other.refresh();
      expect(other.size).toBe(0);
      const { reader } = await stateOf(box);
      // The first node renews its lease every few seconds.
      await until(async () => {
        await query("update bounce_mailboxes set lease_until = now() - interval '1 second' where id = $1", [box]);
        await other.refresh();
        return other.size > 0;
      });
      expect(other.size).toBe(1);
      expect((await stateOf(box)).reader).not.toBe(reader);
      await look();
      await until(() => imap.commands.includes("LOGOUT"));
    } finally {
      await other.stop();
    }
  });

  test("reading stops once the mailbox is removed from its configuration", async () => {
    const world = await newWorld();
    await newBox(world);
    await look();
    await until(() => imap.commands.includes("IDLE"));
    await query("delete from bounce_mailboxes");
    await look();
    await until(() => imap.clients() === 0);
    expect(imap.commands.at(-1)).toBe("LOGOUT");
  });
});
