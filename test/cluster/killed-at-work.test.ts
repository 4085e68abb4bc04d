/**
 * kill -9 of nodes at work: erasing a person, sending an A/B test; with FAILURES=long (`npm run test:failures`) also in
 * other phases of the A/B test, while sending system mails, importing a file, and removing a company.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { closeDatabase, openDatabase, query, queryOne, transaction } from "../../models/database/db.ts";
import { beginErasure, erasedPerson } from "../../models/statements/erase-person.ts";
import { addBackgroundImport, addPart, startImport } from "../../models/statements/imports.ts";
import {
  claimSystemMails,
  finishSystemMail,
  SYSTEM_MAIL_LEASE_SECONDS,
} from "../../services/accounts/system-mail/system-mails.ts";
import { newId } from "../../services/lib/ids.ts";
import { rowsWith } from "../support/address-scan.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { type Accepted, type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { newVariantTest } from "../support/variant-test.ts";

/** On a busy machine a node takes half a minute to start. */
const UNTIL_MS = 120_000;
jest.setTimeout(600_000);

const SECRET_KEY = "test-secret-test-secret-test-secret";
const MAILS = 30;
/** Maximum number of system mails in flight per node. */
const AT_ONCE = 5;
const EVENTS = 60_000;
const PEOPLE = 60_000;
const IMPORTED = 150_000;
const PART_BYTES = 1024 * 1024;
const ANN = "ann@erase-me.example";
const OF_SENDERS = { ALLOW_PRIVATE_NETWORKS: "true", SEND_LEASE_SECONDS: "2", RETRY_BASE_SECONDS: "1" };

describe("a killed node", () => {
  let database: TestDatabase;
  let server: SmtpServer;
  let node: ServiceProcess | undefined;

  beforeAll(async () => {
    process.env.SECRET_KEY = SECRET_KEY;
    server = await startSmtpServer({
      answer: ({ verb }) => (verb === "DOT" ? { reply: "250 2.0.0 Ok", delayMs: 150 } : undefined),
    });
    database = await createDatabase();
    openDatabase(database.url, 4);
  });
  afterAll(async () => {
    await node?.child.stop();
    await server.stop();
    await closeDatabase();
    await database.drop();
  });

  async function start(services = ["accounts", "subscribers"]): Promise<void> {
    const SYSTEM_SMTP_URL = `smtp://127.0.0.1:${server.port}`;
    const env = {
      DATABASE_URL: database.url,
      SECRET_KEY,
      HOST: "127.0.0.1",
      SYSTEM_SMTP_URL,
      SYSTEM_FROM: "s@a.example",
    };
    node = await startService({ services, env: { ...env, ...OF_SENDERS, LOGLEVEL: "error" } });
  }
  async function killWhen(isInTheMiddle: () => Promise<boolean>, services?: string[]): Promise<void> {
    if (!node?.child.running()) await start(services);
    await until(isInTheMiddle);
    node!.child.signal("SIGKILL");
    await node!.child.ended;
  }
  async function until(isSo: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + UNTIL_MS; !(await isSo()); await sleep(10)) {
      if (Date.now() > end || !node!.child.running()) throw new Error(`It did not happen: ${node!.child.output()}`);
    }
  }
  async function newCompany(): Promise<string> {
    const id = newId();
    await query("insert into companies (id, name, plan) values ($1, 'Acme', 'unlimited')", [id]);
    return id;
  }

  // No node runs yet; this test is the one that dies.
  test("keeps its leased system mails until the lease ends; then another node sends them", async () => {
    const id = newId();
    await query(
      `insert into system_mails (id, kind, recipient, data) values ($1, 'password_changed', 'u@example.com', '{"at": "now"}')`,
      [id],
    );
    const leaseIsOver = () =>
      query("update system_mails set next_attempt_at = next_attempt_at - make_interval(secs => $1)", [
        SYSTEM_MAIL_LEASE_SECONDS,
      ]);
    expect(await claimSystemMails(10)).toMatchObject([{ id, attempts: 1 }]);
    expect(await claimSystemMails(10)).toEqual([]);
    await leaseIsOver();
    expect(await claimSystemMails(10)).toMatchObject([{ id, attempts: 2 }]);
    await finishSystemMail(id, null);
    await leaseIsOver();
    expect(await claimSystemMails(10)).toEqual([]);
    await query("delete from system_mails where id = $1", [id]);
  });

  test("leaves an erasure to another node, which counts nothing twice", async () => {
    const company = await newCompany();
    await query(
      `insert into email_events (company_id, type, recipient) select $1, 'opened', $2 from generate_series(1, $3::int)`,
      [company, ANN, EVENTS],
    );
    await query("insert into subscribers (company_id, email) values ($1, $2)", [company, ANN]);
    const person = await erasedPerson(company, ANN);
    await transaction((client) => beginErasure(client, person, ANN));
    await query("update erased_addresses set due_at = now()");
    const job = async () =>
      (await queryOne<{ place: number; pass: number; counts: Record<string, number> }>(
        "select place, pass, counts from erased_addresses where company_id = $1",
        [company],
      ))!;
    await killWhen(async () => ((await job()).counts.events ?? 0) >= 3_000);
    const { counts, pass } = await job();
    expect([counts.events! < EVENTS, pass]).toEqual([true, 1]);
    await query("update erased_addresses set due_at = now()");
    await start();
    await until(async () => (await job()).pass === 2);
    expect((await job()).counts).toMatchObject({ events: EVENTS, subscribers: 1 });
    expect(await rowsWith(ANN)).toEqual({});
  });

  const SENDING = ["accounts", "subscribers", "campaigns", "smtp-sender", "renderer", "tracking"];
  const PHASES = ["test", "wait", "decision", "rest"];
  const subjectOf = ({ raw }: Accepted) => /^Subject: (.*)\r$/m.exec(raw)![1];

  const CASES = process.env.FAILURES === "long" ? [...PHASES.map((phase) => [phase]), PHASES] : [["test"]];

  test.each(CASES.map((phases) => [phases]))(
    "leaves an A/B test, killed in %j, to another node: same shares and winner, nobody gets two mails",
    async (phases) => {
      await node?.child.stop();
      const ab = await newVariantTest(await newCompany(), server.port);
      const arrived = () => server.messages.filter(({ to }) => to[0]!.endsWith(ab.domain));
      const kill = (when: () => Promise<boolean>) => killWhen(when, SENDING);
      if (phases.includes("test")) await kill(async () => arrived().length > 15);
      if (!node?.child.running()) await start(SENDING);
      await until(async () => (await ab.winner()).due_at !== null);
      expect(await ab.dealt()).toEqual({ 0: 24, 1: 36, rest: 60 });
      await ab.opened(1, 5);
      if (phases.includes("wait")) await kill(async () => true);
      if (!node?.child.running()) await start(SENDING);
      if (phases.includes("decision")) {
        await node!.ready();
        await ab.holdRest(async (isAskedFor) => {
          await ab.timeIsUp();
          await kill(isAskedFor);
        });
        expect(await ab.winner()).toMatchObject({ winner: null });
        await start(SENDING);
      }
      await ab.timeIsUp();
      await until(async () => (await ab.winner()).winner !== null);
      expect(await ab.winner()).toMatchObject({ winner: 1 });
      const tested = arrived().length;
      if (phases.includes("rest")) {
        await kill(async () => arrived().length > tested + 10);
        await start(SENDING);
      }
      const { sent, unknown } = await ab.ended(until);
      expect(sent + unknown).toBe(120);
      if (unknown > 0) await ab.resume(until);
      const variantOf = await ab.variants();
      expect(new Set(arrived().map(({ to }) => to[0])).size).toBe(120);
      expect(arrived().length - 120).toBeLessThanOrEqual(unknown);
      for (const mail of arrived()) {
        expect([mail.to[0], subjectOf(mail)]).toEqual([
          mail.to[0],
          variantOf.get(mail.to[0]!) === 0 ? "Apples" : "Pears",
        ]);
      }
      expect(await ab.dealt()).toEqual({ 0: 24, 1: 36, rest: 60 });
      server.messages.length = 0;
    },
  );

  if (process.env.FAILURES === "long") {
    test("loses no system mail; mails in flight are sent again with the same Message-ID", async () => {
      await query(
        `insert into system_mails (id, kind, recipient, data)
         select uuid_v7(), 'password_changed', 'u' || n || '@example.com', '{"at": "now"}' from generate_series(1, $1::int) n`,
        [MAILS],
      );
      await killWhen(async () => server.messages.length >= 7);
      // Expires the dead node's lease.
      await query("update system_mails set next_attempt_at = now() where next_attempt_at is not null");
      await start();
      await until(async () => !(await queryOne("select from system_mails where sent_at is null limit 1")));
      const arrived = server.messages.map(({ to, messageId }) => `${to[0]} ${messageId}`);
      expect(new Set(arrived).size).toBe(MAILS);
      expect(new Set(server.messages.map(({ to }) => to[0])).size).toBe(MAILS);
      expect(arrived.length - MAILS).toBeLessThanOrEqual(AT_ONCE);
    });

    test("leaves a background import to another node, which completes it once, whether killed while reading or writing", async () => {
      const company = await newCompany();
      const id = newId();
      const rows = Array.from({ length: IMPORTED }, (_, n) => `i${n}@import.example,Person ${n}`);
      const file = Buffer.from(`email,first_name\n${rows.join("\n")}\nnobody,\n`);
      const form = { size: file.length };
      expect(await addBackgroundImport(company, id, { form, caller: { companyId: company }, bytes: file.length })).toBe(
        true,
      );
      for (let at = 0; at < file.length; at += PART_BYTES)
        await addPart(company, id, at / PART_BYTES, file.subarray(at, at + PART_BYTES));
      await startImport(company, id);
      const row = async () =>
        (await queryOne<{
          status: string;
          attempts: number;
          bytes_read: number;
          report: Record<string, number> | null;
        }>("select status, attempts, bytes_read::int, report from imports where id = $1", [id]))!;
      const people = async () =>
        (await queryOne<{ n: number }>("select count(*)::int as n from subscribers where company_id = $1", [company]))!
          .n;
      const busyWith = async (text: string) =>
        (await queryOne(
          `select from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()
             and query ilike $1 limit 1`,
          [`%${text}%`],
        )) !== undefined;
      for (const text of ["copy ", "insert into subscribers"]) {
        await killWhen(() => busyWith(text));
        expect([(await row()).status, await people()]).toEqual(["running", 0]);
        // Expires the dead node's lease.
        await query("update imports set next_attempt_at = now() where id = $1", [id]);
      }
      await start();
      await until(async () => (await row()).status === "done");
      const { attempts, report } = await row();
      expect([attempts, report]).toMatchObject([3, { total: IMPORTED + 1, created: IMPORTED, updated: 0, skipped: 1 }]);
      expect(await people()).toBe(IMPORTED);
      const counted = await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1)::int as n", [company]);
      const log = await query("select from audit_log where company_id = $1 and action = 'subscribers.imported'", [
        company,
      ]);
      const errors = await query("select from import_errors where import_id = $1 and attempts = 3", [id]);
      const parts = await query("select from import_parts where import_id = $1", [id]);
      expect([counted!.n, log.length, errors.length, parts.length]).toEqual([IMPORTED, 1, 1, 0]);
    });

    test("leaves the removal of a company to another node", async () => {
      const [company, other] = [await newCompany(), await newCompany()];
      for (const id of [company, other]) {
        await query(
          "insert into subscribers (company_id, email) select $1, 'p' || n || '@x.example' from generate_series(1, $2::int) n",
          [id, id === company ? PEOPLE : 100],
        );
      }
      const people = async (id: string) =>
        (await queryOne<{ n: number }>("select count(*)::int as n from subscribers where company_id = $1", [id]))!.n;
      await query("update companies set deleted_at = now() where id = $1", [company]);
      await killWhen(async () => (await people(company)) < PEOPLE);
      expect(await people(company)).toBeGreaterThan(0);
      await start();
      await until(async () => !(await queryOne("select from companies where id = $1", [company])));
      expect(await rowsWith(company)).toEqual({});
      expect(await people(other)).toBe(100);
    });
  }
});
