/** A tenant's template must not delay others: excessive ones are refused, large ones run in a worker thread. */
import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne } from "../../models/database/db.ts";
import { newId } from "../../services/lib/ids.ts";
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { long } from "../support/long.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";

/** Allows for a busy machine. */
jest.setTimeout(180_000);

const TEMPLATES = "/api/emails/templates/";

/** Bodies that would occupy the main thread for seconds to minutes. */
const TOO_DEEP = "<div>".repeat(199_000);
const TOO_DEEP_LISTS = "<ul><li>x".repeat(100_000);
const TOO_MANY_TAGS = "[[[x]]]".repeat(140_000);
/** The most expensive allowed bodies: many small elements, and many addresses with values. */
const MANY_PARAGRAPHS = "<p>x".repeat(40_000);
const MANY_LINKS = `${'<a href="https://example.com/?x=[[x]]">y</a>'.repeat(2_000)}${"<td>é".repeat(15_000)}`;

const deep = (column: number) => ({
  body: [`Elements nested deeper than 500 levels at line 1, column ${column}.`],
});
const manyTags = { body: ["More than 10000 tags at line 1, column 70001."] };

let app: App;
let smtp: SmtpServer;
let attacker: TestCompany;
let victim: TestCompany;
const configs = new Map<TestCompany, string>();
beforeAll(async () => {
  [app, smtp] = [await startApp(), await startSmtpServer()];
  [attacker, victim] = [await newCompany(app), await newCompany(app)];
  for (const company of [attacker, victim]) configs.set(company, await smtpConfig(company));
});
afterAll(async () => {
  await app?.stop();
  await smtp?.stop();
});

async function smtpConfig(company: TestCompany): Promise<string> {
  const { body, text } = await company.api.post("/api/emails/smtp-configs/", {
    name: "Mailbox",
    host: "127.0.0.1",
    port: smtp.port,
    username: "",
    password: "",
    use_tls: false,
    sender_name: "Sender",
    sender_email: "sender@example.com",
  });
  if (!body.id) throw new Error(text);
  return body.id;
}

async function until(isSo: () => boolean): Promise<void> {
  for (let n = 0; n < 3_000 && !isSo(); n++) await sleep(10);
  expect(isSo()).toBe(true);
}

const save = (body: string, company = attacker) => company.api.post(TEMPLATES, { name: "T", subject: "Hi", body });

const custom = (company: TestCompany, body: string, email: string, configOf = configs) =>
  company.api.post("/api/emails/send/custom/", {
    name: "C",
    smtp_config_id: configOf.get(company),
    subject: "Hi",
    body,
    receivers: [{ email }],
  });

/** A template stored by a version without these limits. */
async function storedTemplate(body: string): Promise<string> {
  const { id } = (await save("small")).body;
  await query("update templates set body = $2 where id = $1", [id, body]);
  return id;
}

async function ended(campaignId: string) {
  for (;;) {
    const { body } = await attacker.api.get(`/api/emails/campaigns/${campaignId}/`);
    if (!["pending", "scheduled", "queued", "sending"].includes(body.status)) return body;
    await sleep(50);
  }
}

const msOf = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;

/** CPU milliseconds of the main thread; before Node 23.9 its active time. */
const ownMs = () =>
  typeof process.threadCpuUsage === "function"
    ? msOf(process.threadCpuUsage())
    : performance.eventLoopUtilization().active;

/** Cost of the work for the main thread, and for all threads. */
async function costOf(work: () => Promise<unknown>): Promise<{ ownMs: number; allMs: number }> {
  const [own, all] = [ownMs(), process.cpuUsage()];
  await work();
  return { ownMs: ownMs() - own, allMs: msOf(process.cpuUsage(all)) };
}

describe("nesting beyond 500 elements, and more than 10,000 tags, are refused with an error on the body:", () => {
  test.each([
    ["open elements", TOO_DEEP, deep(2_501)],
    ["lists in lists", TOO_DEEP_LISTS, deep(2_251)],
    ["a small body", "<b>".repeat(501), deep(1_501)],
    ["unescaped values", TOO_MANY_TAGS, manyTags],
    ["values in an address", `<a href="https://example.com/?${TOO_MANY_TAGS}">x</a>`, expect.anything()],
  ])("%s", async (_name, body, expected) => {
    const saved = await save(body);
    expect([saved.status, saved.body]).toEqual([400, expected]);
    const { id } = (await save("<p>small</p>")).body;
    const changed = await attacker.api.patch(`${TEMPLATES}${id}/`, { body });
    expect([changed.status, changed.body]).toEqual([400, expected]);
    const sent = await custom(attacker, body, "a@example.net");
    expect([sent.status, sent.body]).toEqual([400, expected]);
    const previewed = await attacker.api.post(`${TEMPLATES}${await storedTemplate(body)}/preview/`, {});
    expect([previewed.status, previewed.body]).toEqual([400, expected]);
  });

  test.each([
    ["exactly 500 levels", "<b>".repeat(500)],
    ["paragraphs, cells and items that are never closed", `${"<p>x".repeat(600)}<table>${"<tr><td>x".repeat(600)}`],
    ["ten thousand values", "[[x]]".repeat(10_000)],
  ])("%s are accepted", async (_name, body) => {
    expect((await save(body)).status).toBe(201);
  });
});

test("a campaign with a stored template that is too deep fails with the reason, and another company's receipts are sent meanwhile", async () => {
  const campaign = (await custom(attacker, "<p>Hello</p>", "late@example.net")).body;
  await ended(campaign.id);
  await query("update campaign_contents set body = $2 where campaign_id = $1", [campaign.id, TOO_DEEP]);
  const mails = (await attacker.api.get("/api/emails/sent-emails/", { query: { campaign: campaign.id } })).body;
  const view = await fetch(`${app.url}/api/emails/public/view/${mails.results[0].id}/`);
  expect(view.status).toBe(404);

  const list = (await attacker.api.post("/api/emails/lists/", { name: "L" })).body.id;
  await attacker.api.post("/api/emails/subscribers/", { email: "reader@example.net", lists: [list] });
  const send = (template_id: string) =>
    attacker.api.post("/api/emails/send/to-list/", {
      name: "Deep",
      list_id: list,
      template_id,
      smtp_config_id: configs.get(attacker),
      scheduled_for: new Date(Date.now() + 3_600_000).toISOString(),
    });
  const refused = await send(await storedTemplate(TOO_DEEP));
  expect([refused.status, refused.body]).toEqual([400, { template_id: deep(2_501).body }]);

  let failed: string | null = null;
  const cost = await costOf(async () => {
    const sent = await send((await save("<p>Hello</p>")).body.id);
    expect(sent.status).toBe(201);
    await query("update campaign_contents set body = $2 where campaign_id = $1", [sent.body.id, TOO_DEEP]);
    await query("update campaigns set scheduled_for = now() where id = $1", [sent.body.id]);
    const receipt = custom(victim, "<p>Your receipt</p>", `${newId()}@example.net`);
    expect((await receipt).status).toBe(201);
    const { status, failed_count } = await ended(sent.body.id);
    expect([status, failed_count]).toEqual(["failed", 1]);
    const found = await queryOne<{ error: string }>(
      "select error from sent_emails where campaign_no = (select no from campaigns where id = $1)",
      [sent.body.id],
    );
    failed = found!.error;
  });
  expect(failed).toMatch(
    /could not be rendered: The template cannot be rendered: Elements nested deeper than 500 levels/,
  );
  // Rendering in the main thread takes ten seconds and more.
  expect(cost.ownMs).toBeLessThan(3_000);
});

test("a large template is checked, previewed and sent in a worker thread without blocking the main thread", async () => {
  // Loading and compiling at first use does not count.
  await attacker.api.post(`${TEMPLATES}${(await save(MANY_LINKS)).body.id}/preview/`, {});
  const before = smtp.messages.length;
  const cost = await costOf(async () => {
    for (const body of [MANY_PARAGRAPHS, MANY_LINKS]) {
      const { id } = (await save(body)).body;
      const preview = attacker.api.post(`${TEMPLATES}${id}/preview/`, { variables: { x: "1" } });
      const sent = custom(attacker, body, "b@example.net");
      for (let n = 0; n < 10; n++) expect((await victim.api.get(TEMPLATES)).status).toBe(200);
      expect([(await preview).status, (await sent).status]).toEqual([200, 201]);
    }
    await smtp.received(before + 2);
  });
  // This thread is also the test's client and mail server.
  expect(cost.ownMs).toBeLessThan(cost.allMs / 2);
});

/** All templates run with FAILURES=long: threads, clients and servers share two cores here. */
const ALL = [MANY_PARAGRAPHS, TOO_DEEP, MANY_LINKS, TOO_MANY_TAGS, TOO_DEEP_LISTS];
const SHORT = [TOO_DEEP_LISTS, MANY_PARAGRAPHS];

describe("a process started like an image", () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  beforeAll(async () => {
    database = await createDatabase();
    service = await startService({
      env: {
        DATABASE_URL: database.url,
        SECRET_KEY: "test-secret-test-secret-test-secret",
        ALLOW_PRIVATE_NETWORKS: "true",
        DRAIN_SECONDS: "3",
        LOGLEVEL: "warn",
      },
    });
    await service.ready();
  });
  afterAll(async () => {
    await service?.child.stop();
    await database?.drop();
  });

  const metric = async (name: string) => {
    const text = await (await fetch(`${service.healthUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
  };

  test("serves others within its memory limit while two companies send it the worst templates", async () => {
    const companies = [await newCompany(service), await newCompany(service), await newCompany(service)];
    const [other] = companies;
    const configOf = new Map<TestCompany, string>();
    for (const company of companies) configOf.set(company, await smtpConfig(company));
    let isOver = false;
    const attack = async (company: TestCompany) => {
      for (const body of long ? ALL : SHORT) {
        const saved = await save(body, company);
        if (saved.status === 201) await company.api.post(`${TEMPLATES}${saved.body.id}/preview/`, {});
        expect([201, 400]).toContain((await custom(company, body, "a@example.net", configOf)).status);
      }
    };
    const attacks = Promise.all(companies.slice(1).map(attack)).finally(() => {
      isOver = true;
    });
    let receipts = 0;
    while (!isOver) {
      const email = `receipt-${receipts}@example.net`;
      expect((await custom(other!, "<p>Your receipt</p>", email, configOf)).status).toBe(201);
      expect((await other!.api.get(TEMPLATES)).status).toBe(200);
      receipts++;
      await until(() => smtp.messages.some(({ to }) => to.includes(email)));
    }
    await attacks;
    expect(receipts).toBeGreaterThan(0);
    // Without the limits, one such preview took over 60 s.
    expect(await metric("flockmail_event_loop_lag_max_seconds")).toBeLessThan(10);
    expect(await metric("process_resident_memory_bytes")).toBeLessThan(500 * 1024 ** 2);
  });

  test("stops gracefully while its worker thread is still running", async () => {
    const company = await newCompany(service);
    const { id } = (await save("<p>small</p>", company)).body;
    expect((await company.api.post(`${TEMPLATES}${id}/preview/`, {})).status).toBe(200);
    expect(await metric("flockmail_worker_threads")).toBe(1);
    service.child.signal("SIGTERM");
    expect(await service.child.ended).toBe(0);
  });
});
