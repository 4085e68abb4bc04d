/**
 * Whatever one company requests and however long it takes, other companies' requests get a connection. Slow work is a
 * lock that the test holds, so results do not depend on the machine.
 */
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { importTransaction } from "../../models/database/bulk.ts";
import { queryOne } from "../../models/database/db.ts";
import { call } from "../../services/call.ts";
import { newId } from "../../services/lib/ids.ts";
import { type App, startApp } from "../support/app.ts";
import { type Answer, client, newCompany, someIp, type TestCompany } from "../support/client.ts";

const API = "/api/emails";
/** More requests than a process has connections. */
const MANY = 30;
/** Longer than a request waits for a connection. */
const LONGER_THAN_A_WAIT_MS = 6_000;

let app: App;
let noisy: TestCompany;
let quiet: TestCompany;
beforeAll(async () => {
  app = await startApp();
  quiet = await newCompany(app);
});
beforeEach(async () => {
  noisy = await newCompany(app);
});
afterAll(() => app?.stop());

/** Runs `work` while another session holds the statements' locks; `$1` is the noisy company. */
async function whileHeld<T>(statements: readonly string[], work: () => Promise<T>): Promise<T> {
  const holder = new pg.Client({ connectionString: app.databaseUrl, application_name: "holder" });
  await holder.connect();
  try {
    await holder.query("begin");
    for (const statement of statements) await holder.query(statement, statement.includes("$1") ? [noisy.id] : []);
    return await work();
  } finally {
    await holder.end();
  }
}

const BULK_WRITES = "select pg_advisory_xact_lock(hashtextextended('bulk subscribers ' || $1, 0))";
const ROOM = "select pg_advisory_xact_lock(hashtextextended('subscribers ' || $1, 0))";

/** `kind` is PostgreSQL's name of the lock type; short waits for row locks are normal. */
const waitingForLocks = async (kind?: string) =>
  (await queryOne<{ n: number }>(
    `select count(*) n from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and coalesce(wait_event = $1, true)
`,
    [kind ?? null],
  ))!.n;

/** Sends the quiet company's requests for long enough; returns the maximum number that waited. */
async function quietGoesOn(): Promise<number> {
  const until = performance.now() + LONGER_THAN_A_WAIT_MS;
  let most = 0;
  while (performance.now() < until) {
    const answers = await Promise.all([
      quiet.api.get(`${API}/lists/`),
      quiet.api.post(`${API}/lists/`, { name: "Readers" }),
      quiet.api.get(`${API}/campaigns/`),
      quiet.api.get(`${API}/templates/`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 200, 200]);
    most = Math.max(most, await waitingForLocks());
    await sleep(200);
  }
  return most;
}

async function untilWaiting(): Promise<void> {
  const deadline = performance.now() + 20_000;
  while ((await waitingForLocks()) === 0) {
    if (performance.now() > deadline) throw new Error("Nothing waits for the lock");
    await sleep(10);
  }
}

/** Answers are successes, or refusals with Retry-After. */
function expectFairAnswers(answers: readonly Answer[], good: number): void {
  for (const { status, headers } of answers) {
    expect([good, 429, 503]).toContain(status);
    if (status !== good) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
}

async function newSegment(company: TestCompany): Promise<string> {
  const conditions = Array.from({ length: 50 }, (_, n) => ({ field: "email", operator: "contains", value: `x${n}` }));
  const made = await company.api.post(`${API}/segments/`, { name: "Heavy", rules: { match: "any", conditions } });
  return made.body.id;
}

test("one slow read per company runs, its others wait without connections, and other companies continue", async () => {
  const id = await newSegment(noisy);
  const { reads } = await whileHeld(["lock table subscribers in access exclusive mode"], async () => {
    const ask = [
      () => noisy.api.get(`${API}/segments/${id}/`),
      () => noisy.api.get(`${API}/segments/${id}/subscribers/`),
      () => noisy.api.get(`${API}/subscribers/`, { query: { search: "a" } }),
      () => noisy.api.get(`${API}/subscribers/`, { query: { ordering: "last_name" } }),
    ];
    const asked = Promise.all(Array.from({ length: MANY }, (_, n) => ask[n % ask.length]!()));
    await untilWaiting();
    expect(await quietGoesOn()).toBe(1);
    return { reads: asked };
  });
  expectFairAnswers(await reads, 200);
  expect((await noisy.api.get(`${API}/segments/${id}/`)).body).toMatchObject({
    subscriber_count: 0,
    subscriber_count_is_estimate: false,
  });
});

test("imports, writes and public requests that wait for a company's lock leave connections to others, and none is lost", async () => {
  await call(app.broker, "accounts.setPlan", { company_id: noisy.id, plan: "starter" });
  const importing = (company: TestCompany, email: string) =>
    call(app.broker, "subscribers.import", {}, {
      meta: { companyId: company.id },
      stream: Readable.from([`email\n${email}\n`]),
      timeout: 60_000,
    } as object);
  const anyone = client(app);
  const asked = await whileHeld([BULK_WRITES, ROOM], async () => {
    const each = <T>(count: number, ask: (n: number) => Promise<T>) =>
      Promise.all(Array.from({ length: count }, (_, n) => ask(n)));
    const imports = each(12, (n) => importing(noisy, `p${n}@x.org`));
    const writes = each(MANY, (n) => noisy.api.post(`${API}/subscribers/`, { email: `w${n}@x.org` }));
    const strangers = each(MANY, (n) =>
      anyone.post(`${API}/public/subscribe/${noisy.id}/`, { email: `s${n}@x.org` }, { ip: someIp() }),
    );
    await untilWaiting();
    expect(await importing(quiet, "q@x.org")).toMatchObject({ created: 1 });
    // One import runs; half of the connections remain for everything else.
    expect(await quietGoesOn()).toBeLessThanOrEqual(1 + 4);
    return { imports, writes: Promise.all([writes, strangers]) };
  });
  const written = (await asked.writes).flat();
  expectFairAnswers(written, 201);
  // A lock that is not free after two seconds fails the request.
  expect(written.some(({ status }) => status === 503)).toBe(true);
  expect(await asked.imports).toHaveLength(12);
  const stored = 12 + written.filter(({ status }) => status === 201).length;
  expect((await noisy.api.get(`${API}/subscribers/`)).body.count).toBe(stored);
});

test("a small import runs while large ones of other companies occupy all slots, and waits behind one of its own company", async () => {
  const large = Promise.withResolvers<void>();
  const isOver = { large: false, behind: false };
  const owners = [noisy.id, ...Array.from({ length: MANY }, newId)];
  const running = Promise.all(owners.map((id) => importTransaction(id, () => large.promise)));
  const file = (email: string, rows: number) => {
    const form = new FormData();
    form.set(
      "file",
      new Blob([["email", ...Array.from({ length: rows }, (_, n) => `${n}${email}`)].join("\n")]),
      "a.csv",
    );
    return form;
  };
  const importOf = (company: TestCompany, email: string, rows: number) =>
    company.api.post(`${API}/subscribers/bulk/`, file(email, rows));
  try {
    const waiting = importOf(quiet, "@large.example", 10_000).finally(() => {
      isOver.large = true;
    });
    const other = await newCompany(app);
    const behind = importOf(noisy, "@small.example", 2).finally(() => {
      isOver.behind = true;
    });
    expect(await importOf(other, "@small.example", 20)).toMatchObject({ status: 201, body: { created: 20 } });
    expect(isOver).toEqual({ large: false, behind: false });
    large.resolve();
    expect((await waiting).body).toMatchObject({ created: 10_000 });
    expect((await behind).body).toMatchObject({ created: 2 });
  } finally {
    large.resolve();
    await running;
  }
});

async function newServer(company: TestCompany): Promise<string> {
  const { body } = await company.api.post(`${API}/smtp-configs/`, {
    name: "S",
    host: "127.0.0.1",
    port: 1,
    username: "",
    password: "",
    use_tls: false,
    sender_name: "S",
    sender_email: "s@x.org",
  });
  return body.id;
}

test("one newsletter to many receivers is written at a time for each company; small ones and other companies' continue", async () => {
  const servers = new Map([
    [noisy, await newServer(noisy)],
    [quiet, await newServer(quiet)],
  ]);
  const send = (company: TestCompany, count: number) =>
    company.api.post(`${API}/send/custom/`, {
      name: "News",
      smtp_config_id: servers.get(company),
      subject: "Hi",
      body: "<p>Hi</p>",
      receivers: Array.from({ length: count }, (_, n) => ({ email: `n${n}@x.org` })),
    });
  const { sent } = await whileHeld(["lock table campaign_receivers in exclusive mode"], async () => {
    const asked = [...Array.from({ length: 4 }, () => send(noisy, 600)), send(noisy, 1), send(quiet, 600)];
    const answers = { sent: Promise.all(asked) };
    while ((await waitingForLocks("relation")) < 3) await sleep(20);
    // Gives further requests time to start waiting.
    await sleep(300);
    expect(await waitingForLocks("relation")).toBe(3);
    return answers;
  });
  expect((await sent).map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 201));
});

test("mail to receivers is sent while an import locks the company; they are not saved as subscribers", async () => {
  const smtp_config_id = await newServer(noisy);
  const receivers = Array.from({ length: 1_200 }, (_, n) => ({ email: `P${n}@x.org`, first_name: `N${n}` }));
  const recipients = async (condition: string) =>
    (await queryOne<{ n: number }>(
      `select count(*) n from campaigns c join sent_emails e on e.campaign_no = c.no where c.company_id = $1 and ${condition}`,
      [noisy.id],
    ))!.n;
  await whileHeld([BULK_WRITES], async () => {
    const sent = await noisy.api.post(`${API}/send/custom/`, {
      name: "Receipts",
      smtp_config_id,
      subject: "Hi",
      body: "<p>Hi</p>",
      receivers,
    });
    expect(sent.status).toBe(201);
    while ((await recipients("true")) < receivers.length) await sleep(20);
    expect((await noisy.api.get(`${API}/subscribers/`)).body.count).toBe(0);
  });
  expect(await recipients("subscriber_id is not null")).toBe(0);
});
