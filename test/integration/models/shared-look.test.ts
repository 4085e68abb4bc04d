/** One look for all that repeats and has nothing to do: what it asks, and whom it wakes. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import pg from "pg";
import { every } from "../../../mixins/every.mixin.ts";
import { closeDatabase, openDatabase, query } from "../../../models/database/db.ts";
import { lookFor, lookOnce } from "../../../models/database/shared-look.ts";
import { ANY_UNSENT_CONFIRMATION } from "../../../models/statements/ask-to-confirm.ts";
import { ANY_UNSENT_CHANGE } from "../../../models/statements/change-address.ts";
import { ANY_UNDECIDED } from "../../../models/statements/decide-winner.ts";
import { ANY_ERASURE_DUE } from "../../../models/statements/erase-person.ts";
import { ANY_IMPORT_DUE } from "../../../models/statements/imports.ts";
import { ANY_DELETED } from "../../../models/statements/remove-company.ts";
import { ANY_DELIVERY_WAITING } from "../../../models/statements/webhook-deliveries.ts";
import { ANY_REPORT_DUE } from "../../../services/bounces/inbound-reports.ts";
import { ANY_MAILBOX } from "../../../services/bounces/mailbox/bounce-mailboxes.ts";
import { ANY_WAITING } from "../../../services/campaigns/expansion/expansion-queue.ts";
import { ANY_DUE } from "../../../services/campaigns/lifecycle/schedule.ts";
import { ANY_FINISHED } from "../../../services/campaigns/lifecycle/settle.ts";
import { ANY_ZONE_DUE } from "../../../services/campaigns/lifecycle/start-by-zone.ts";
import { ANY_TO_CLAIM } from "../../../services/smtp-sender/claim/claim-statements.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { statementsOf } from "../../support/statements.ts";

const ID = "'00000000-0000-7000-8000-000000000001'";
const PAST = "now() - interval '1 second'";
const LATER = "now() + interval '1 hour'";

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createDatabase();
  openDatabase(database.url, 5);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await closeDatabase();
  await database?.drop();
});

const campaign = (columns: Record<string, string>) =>
  `insert into campaigns (id, company_id, name, campaign_type, smtp_config_id, worker_task_id, ${Object.keys(columns).join(", ")})
   values (${ID}, ${ID}, 'News', 'to_list', ${ID}, ${ID}, ${Object.values(columns).join(", ")})`;
const chunk = (due: string) =>
  `${campaign({ status: "'sending'", expanded_at: "now()", total_emails: "1" })};
   insert into send_chunks (campaign_id, no, company_id, smtp_config_id, is_transactional, lo, hi, marked_to, state, due_at)
   values (${ID}, 1, ${ID}, ${ID}, false, 1, 1, 0, 3, ${due})`;
const winner = (won: string) =>
  `insert into campaign_winners (company_id, campaign_id, metric, after_minutes, winner, decided_at)
   values (${ID}, ${ID}, 'opens', 5, ${won}, case when ${won} is not null then now() end)`;
const change = (isUnsent: boolean) =>
  `insert into address_changes (company_id, email_key, email, subscriber_id, id, asked_at, accept_language, is_unsent)
   values (${ID}, 'a@x.example', 'a@x.example', ${ID}, ${ID}, now(), '', ${isUnsent})`;
const imported = (at: string) =>
  `insert into imports (id, company_id, bytes, form, caller, next_attempt_at) values (${ID}, ${ID}, 1, '{}', '{}', ${at})`;
const delivery = (status: string, at: string) =>
  `insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload, status, next_attempt_at)
   values (${ID}, ${ID}, ${ID}, 'opened', '{}', '${status}', ${at})`;
const report = (at: string) =>
  `insert into inbound_reports (id, company_id, source_id, body, next_attempt_at) values (${ID}, ${ID}, ${ID}, '', ${at})`;
const erased = (at: string) =>
  `insert into erased_addresses (company_id, address_hash, due_at) values (${ID}, '\\x00', ${at})`;
const mailbox = (at: string) =>
  `insert into bounce_mailboxes (id, company_id, host, port, username, password_sealed, use_tls, folder, processed_folder, origin, next_attempt_at)
   values (${ID}, ${ID}, 'imap.x.example', 993, 'news', '\\x00', true, 'INBOX', 'Done', ${ID}, ${at})`;
const company = (deletedAt: string) =>
  `insert into companies (id, name, plan, deleted_at) values (${ID}, 'Acme', 'free', ${deletedAt})`;
const copy = (at: string) =>
  `insert into sent_email_copies (campaign_id, seq, no, company_id, email, kind, status, next_attempt_at)
   values (${ID}, 1, 1, ${ID}, 'a@x.example', 'cc', 0, ${at})`;

/** A question, what is nothing to do for those who ask it, and what is. */
const QUESTIONS: [name: string, question: string, nothing: string[], work: string[]][] = [
  [
    "recipients to be written",
    ANY_WAITING,
    [campaign({ status: "'scheduled'", scheduled_for: PAST }), campaign({ status: "'sending'", expanded_at: "now()" })],
    [campaign({ status: "'pending'" }), campaign({ status: "'sending'" })],
  ],
  [
    "schedules that are due",
    ANY_DUE,
    [
      campaign({ status: "'scheduled'", scheduled_for: LATER }),
      campaign({ status: "'cancelled'", scheduled_for: PAST }),
      chunk(LATER),
    ],
    [campaign({ status: "'scheduled'", scheduled_for: PAST }), chunk(PAST)],
  ],
  [
    "schedules by timezone that may be due",
    ANY_ZONE_DUE,
    [campaign({ status: "'scheduled'", scheduled_for: PAST, starts_at: LATER })],
    [campaign({ status: "'scheduled'", scheduled_for: LATER, starts_at: PAST })],
  ],
  [
    "campaigns that may be settled",
    ANY_FINISHED,
    [
      campaign({ status: "'sending'", expanded_at: "now()", total_emails: "2", sent_count: "1" }),
      campaign({ status: "'completed'", expanded_at: "now()" }),
    ],
    [
      campaign({ status: "'sending'", expanded_at: "now()", total_emails: "2", sent_count: "1", failed_count: "1" }),
      campaign({ status: "'sending'", expanded_at: "now()", total_emails: "2", error: "'stopped'" }),
    ],
  ],
  ["winners to be decided", ANY_UNDECIDED, [winner("1")], [winner("null")]],
  [
    "confirmations to be mailed",
    ANY_UNSENT_CONFIRMATION,
    [],
    [
      `insert into unsent_confirmations (company_id, subscriber_id, asked_at, accept_language) values (${ID}, ${ID}, now(), '')`,
    ],
  ],
  ["changes of address to be mailed", ANY_UNSENT_CHANGE, [change(false)], [change(true)]],
  ["imports that are due", ANY_IMPORT_DUE, [imported("null"), imported(LATER)], [imported(PAST)]],
  ["webhooks that wait", ANY_DELIVERY_WAITING, [delivery("succeeded", "null")], [delivery("pending", PAST)]],
  ["reports that are due", ANY_REPORT_DUE, [report(LATER)], [report(PAST)]],
  ["mailboxes that are due", ANY_MAILBOX, [mailbox(LATER)], [mailbox(PAST)]],
  ["companies to be taken away", ANY_DELETED, [company("null")], [company(PAST)]],
  ["erasures that are due", ANY_ERASURE_DUE, [erased("null"), erased(LATER)], [erased(PAST)]],
  [
    "mails to be claimed",
    ANY_TO_CLAIM,
    [campaign({ status: "'scheduled'", scheduled_for: PAST }), copy("null")],
    [campaign({ status: "'pending'" }), campaign({ status: "'sending'" }), copy(PAST)],
  ],
];

test.each(QUESTIONS)("finds %s, and nothing else", async (_name, question, nothing, work) => {
  const found = async (rows: string) => {
    // Without the rows that these belong to.
    await client.query(`begin; set local session_replication_role = replica; ${rows}`);
    const { rows: answers } = await client.query(lookOnce([question])).finally(() => client.query("rollback"));
    return answers[0].found[0];
  };
  expect(await found("")).toBeNull();
  for (const rows of nothing) expect([rows, await found(rows)]).toEqual([rows, null]);
  for (const rows of work) expect([rows, await found(rows)]).toEqual([rows, true]);
});

describe("those who wait", () => {
  const MOST_MS = 20;
  beforeAll(() => query("create table work (id uuid primary key, kind text not null)"));
  beforeEach(() => query("delete from work"));
  const anyOf = (kind: string) => `select from work where kind = '${kind}' order by id`;
  const add = (kind: string) => query("insert into work values ($1, $2)", [randomUUID(), kind]);
  const looks = (asked: { text: string }[]) => asked.filter(({ text }) => /^select array/.test(text));

  test("share a statement, and only those are woken for whom there is something", async () => {
    const woken: string[] = [];
    let end = () => {};
    const asked = await statementsOf(async () => {
      const first = new Promise<void>((done) => {
        lookFor(anyOf("mine"), 1_000, () => done(void woken.push("mine")));
      });
      end = lookFor(anyOf("others"), 1_000, () => woken.push("others"));
      await add("mine");
      await first;
    });
    end();
    expect(woken).toEqual(["mine"]);
    expect(looks(asked)[0]!.text).toContain("'others'");
  });

  test("are asked for again until there is something, and not woken when they have gone", async () => {
    let woken = 0;
    const asked = await statementsOf(async () => {
      const end = lookFor(anyOf("mine"), MOST_MS, () => woken++);
      await sleep(20 * MOST_MS);
      end();
      await add("mine");
      await sleep(3 * MOST_MS);
    });
    expect(looks(asked).length).toBeGreaterThan(1);
    expect(woken).toBe(0);
  });

  test("are woken where the database cannot say, and once in a while whatever it says", async () => {
    await new Promise<void>((done) => void lookFor("select from nowhere", MOST_MS, done));
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, "now");
    await new Promise<void>((done) => {
      lookFor(anyOf("nothing"), MOST_MS, done);
      clock.mockImplementation(() => now() + 60_000);
    });
    clock.mockRestore();
  });

  test("are woken one at a look where it finds nothing for any of them for a minute", async () => {
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, "now").mockImplementation(now);
    const woken: string[] = [];
    const asked = await statementsOf(async () => {
      const both = ["one", "other"].map(
        (kind) => new Promise<void>((done) => void lookFor(anyOf(kind), MOST_MS, () => done(void woken.push(kind)))),
      );
      clock.mockImplementation(() => now() + 60_000);
      await both[0];
      expect(woken).toEqual(["one"]);
      await both[1];
    });
    clock.mockRestore();
    expect(looks(asked).length).toBeGreaterThan(1);
  });

  test("what repeats is not run while there is nothing to do, and soon after there is", async () => {
    let runs = 0;
    const worker = {
      name: "worker",
      mixins: [every(MOST_MS, "work", { looksFor: anyOf("mine") })],
      actions: {
        async work() {
          runs++;
          return { done: (await query("delete from work where kind = 'mine' returning id")).length };
        },
      },
    };
    const broker = new ServiceBroker({ logger: false, skipProcessEventRegistration: true });
    broker.createService(worker as unknown as ServiceSchema);
    const asked = await statementsOf(async () => {
      await broker.start();
      while (runs === 0) await sleep(2);
      await sleep(20 * MOST_MS);
      expect(runs).toBe(1);
      await add("mine");
      // One that did something, and one that found nothing after it.
      while (runs < 3) await sleep(2);
      await sleep(10 * MOST_MS);
      expect(runs).toBe(3);
      await broker.stop();
    });
    expect(looks(asked).length).toBeGreaterThan(2);
    await add("mine");
    await sleep(5 * MOST_MS);
    expect(runs).toBe(3);
  });
});
