/** Every command, over real NATS, against a service that sends. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { query } from "../../../models/database/db.ts";
import type { ActionOf } from "../../../services/contracts.ts";
import { commandNamed, commands } from "../../../services/operator/commands.ts";
import { client } from "../../support/client.ts";
import { type Command, type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "../campaigns/world.ts";
import { type Cluster, startNode } from "./world.ts";

const API = "/api/emails";
/** A server that was backed off from is tried again after up to half a minute, later on a busy machine. */
const ENDED_WITHIN_MS = 90_000;
jest.setTimeout(180_000);

type Row = Record<string, unknown>;
const asked = new Set<string>();

describe("an operator's commands", () => {
  let cluster: Cluster;
  let smtp: SmtpServer;
  let answer: (command: Command) => string | undefined = () => undefined;
  let company: string;
  let campaign: string;
  let mails: { id: string; recipient: string }[];
  let api: ReturnType<typeof client>;

  const run = (name: string, ...args: string[]) => {
    asked.add(name);
    return cluster.run(name, ...args);
  };
  /** Calls an action like the console's pages. */
  const ask = (action: ActionOf, params = {}) => cluster.connection.ask(action, params as never) as Promise<Row[]>;
  const one = async (name: string, ...args: string[]) => (await run(name, ...args))[0]!;

  beforeAll(async () => {
    smtp = await startSmtpServer({ answer: (command) => answer(command) });
    cluster = await startNode();
    const created = await one("create-company", "Lantern Books", "pro");
    company = created.company_id as string;
    api = client(cluster.app, { key: created.key as string });
  });
  afterAll(async () => {
    await cluster?.stop();
    await smtp.stop();
  });

  const send = (...recipients: string[]) => sendTo(recipients.map((email) => ({ email })));

  async function sendTo(receivers: { email: string; cc?: string[] }[], ofServer = {}): Promise<string> {
    const config = { name: "S", host: "127.0.0.1", port: smtp.port, username: "", password: "", use_tls: false };
    const sender_email = "news@lantern.example";
    const { body: relay } = await api.post(`${API}/smtp-configs/`, { ...config, ...ofServer, sender_email });
    const custom = { name: "Six books", subject: "Hi", body: "<p>Hi</p>", smtp_config_id: relay.id, receivers };
    const sent = await api.post(`${API}/send/custom/`, custom);
    expect(sent.status).toBe(201);
    return sent.body.id;
  }

  const ended = (id: string) =>
    until(
      async () => (await api.get(`${API}/campaigns/${id}/`)).body,
      ({ status }) => !["pending", "sending"].includes(status),
      ENDED_WITHIN_MS,
    );

  test("companies, plans, plan: list companies and plans, change a plan", async () => {
    expect(await run("companies", "lantern")).toMatchObject([{ id: company, name: "Lantern Books", plan: "pro" }]);
    expect((await run("plans")).map(({ plan }) => plan)).toContain("starter");
    expect(await one("plan", company, "starter")).toMatchObject({ plan: "starter", smtp_per_hour: 2_000 });
    await expect(run("plan", company, "golden")).rejects.toMatchObject({
      data: { fields: { plan: expect.any(Array) } },
    });
    expect(await one("plan", company, "pro")).toMatchObject({ plan: "pro" });
  });

  test("save-plan: a company on the plan gets its new limits within a second", async () => {
    const saved = { plan: "gold", features: "webhooks segments", subscribers: 7, emails_per_month: null };
    expect(await one("save-plan", "gold", "webhooks,segments", "5000,7,-,600,1.5MB")).toMatchObject(saved);
    const { key } = await one("create-company", "Golden", "gold");
    const golden = client(cluster.app, { key: key as string });
    const { body } = await golden.get(`/api/companies/${(await one("companies", "Golden")).id}/plan/`);
    expect(body).toMatchObject({
      plan: "gold",
      features: ["webhooks", "segments"],
      limits: { smtp_per_hour: 600, media_bytes: 1_572_864 },
    });
    expect(await one("save-plan", "gold", "-", "-,-,-,-,-")).toMatchObject({ features: "", subscribers: null });
    await expect(run("save-plan", "gold", "-", "1,2,3")).rejects.toThrow("api_calls_per_day");
    await expect(run("save-plan", "gold", "-", "many,-,-,-,-")).rejects.toMatchObject({ code: "INVALID" });
  });

  test("companies: lists all pages", async () => {
    await query(
      "insert into companies (id, name, plan) select uuid_v7(), 'Many ' || n, 'free' from generate_series(1, 205) n",
    );
    const many = await run("companies", "Many ");
    expect(new Set(many.map(({ id }) => id)).size).toBe(205);
    await query("delete from companies where name like 'Many %'");
  });

  test("create-key: the printed key works", async () => {
    const { key } = await one("create-key", company, "Second");
    expect((await client(cluster.app, { key: key as string }).get(`${API}/lists/`)).status).toBe(200);
  });

  test.each(["create-key", "limits", "pause", "unpause", "failures", "requeue"])(
    "%s reports a missing object instead of an empty result",
    async (name) => {
      await expect(run(name, "00000000-0000-4000-8000-000000000000")).rejects.toThrow("Not found.");
    },
  );

  test("set-password: refuses an unknown address, sets a new one for a user", async () => {
    await expect(run("set-password", "nobody@example.com")).rejects.toThrow("Not found.");
    const email = "ann@lantern.example";
    const account = { email, password: "long enough pass", company_name: "Ann" };
    await client(cluster.app, {}).post("/api/auth/register/", account);
    const { password } = await one("set-password", email);
    expect((await client(cluster.app, {}).post("/api/auth/login/", { email, password })).status).toBe(200);
  });

  test("failures and why show recipients' results with the mail server's answers", async () => {
    answer = ({ verb, to }) => (verb === "RCPT" && to.startsWith("gone") ? "550 5.1.1 no such person here" : undefined);
    campaign = await send("zoe@example.org", "gone1@example.org", "gone2@example.org");
    expect(await ended(campaign)).toMatchObject({ status: "partial" });
    mails = (await api.get(`${API}/sent-emails/?campaign=${campaign}`)).body.results;

    expect(await run("failures", campaign)).toEqual([
      {
        status: "bounced",
        reason: expect.stringContaining("no such person"),
        recipients: 2,
        example: "gone1@example.org",
      },
    ]);
    const story = await run("why", "gone1@example.org");
    expect(story.map(({ what }) => what)).toEqual(
      expect.arrayContaining(["queued", "bounced", "suppressed (bounced)"]),
    );
    const { id } = mails.find(({ recipient }) => recipient === "zoe@example.org")!;
    expect((await run("why", id)).map(({ what }) => what)).toEqual(expect.arrayContaining(["queued", "sent"]));
    expect(await run("why", "stranger@example.com")).toEqual([]);
    const { print, exitCode } = commandNamed("why")!;
    expect([print!([], []), exitCode!([]), exitCode!(story)]).toEqual([
      "Nothing is known about this address or mail.",
      1,
      0,
    ]);
  });

  test("why finds copies by their address and with their mail", async () => {
    answer = ({ verb, to }) =>
      verb === "RCPT" && to === "boss@example.org" ? "550 5.1.1 no such person here" : undefined;
    const id = await sendTo([{ email: "yan@example.org", cc: ["boss@example.org"] }]);
    expect(await ended(id)).toMatchObject({ status: "completed" });
    const [mail] = (await api.get(`${API}/sent-emails/?campaign=${id}`)).body.results;
    const copy = {
      what: "copy bounced",
      detail: expect.stringMatching(
        new RegExp(
          `^cc to boss@example.org of "Six books" of Lantern Books to yan@example.org, mail ${mail.id}; .*no such`,
        ),
      ),
    };
    expect(await run("why", "Boss@example.org")).toMatchObject([copy]);
    expect(await run("why", mail.id)).toEqual(expect.arrayContaining([expect.objectContaining(copy)]));
  });

  test("why explains who got nothing: status, and a suppressed parent domain", async () => {
    await api.post(`${API}/subscribers/`, { email: "Bo@news.blocked.example" });
    await api.post(`${API}/suppressions/`, { domain: "blocked.example", reason: "Asked us to" });
    await query("update subscribers set status = 'unconfirmed' where email = 'Bo@news.blocked.example'");
    expect(await run("why", "bo@news.blocked.example")).toMatchObject([
      { what: "subscriber", detail: "Bo@news.blocked.example at Lantern Books, unconfirmed now" },
      { what: "suppressed (manual)", detail: "blocked.example at Lantern Books: Asked us to" },
    ]);
  });

  test("pause stops a campaign and status gives the reason; unpause continues it", async () => {
    expect(await one("pause", company)).toMatchObject({ sending_paused_at: expect.any(String) });
    const held = await send("zoe@example.org");
    const waiting = await until(
      () => ask("operator.campaigns"),
      ([first]) => first?.status === "pending" && first.mails_per_second !== null,
    );
    expect(waiting).toMatchObject([
      { id: held, company: "Lantern Books", waiting_for: "the company to be unpaused", mails_per_second: 0 },
    ]);
    expect((await ask("operator.queues")).find(({ queue }) => queue === "recipients ready")).toMatchObject({
      waiting: 1,
    });
    expect(await one("unpause", company)).toMatchObject({ sending_paused_at: null });
    expect(await ended(held)).toMatchObject({ status: "completed" });
    expect(await ask("operator.campaigns")).toEqual([]);
  });

  test("limits: current usage of the plan", async () => {
    const limits = await run("limits", company);
    // The key with most calls, because calls are counted per key.
    expect(limits.find(({ limit }) => limit === "api_calls_per_day")!.used).toBeGreaterThan(0);
    expect(limits).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ limit: "emails_per_month", allowed: 2_500_000, used: 6 }),
        expect.objectContaining({ limit: "smtp_per_hour", allowed: 50_000, used: expect.any(Number) }),
      ]),
    );
  });

  test("senders, batches, back-offs: reported by each node", async () => {
    answer = ({ verb }) => (verb === "CONNECT" ? "421 4.3.2 try later" : undefined);
    const stuck = await send("zoe@example.org");
    const [refused] = await until(
      () => ask("operator.backingOff"),
      (rows) => rows.length > 0,
    );
    expect(refused).toMatchObject({
      host: expect.stringContaining("127.0.0.1"),
      last_error: expect.stringContaining("421"),
    });
    const held = await until(
      () => ask("operator.campaigns"),
      ([first]) => `${first?.waiting_for}`.includes("backing off"),
    );
    expect(held).toMatchObject([
      { id: stuck, waiting_for: expect.stringMatching(/^127\.0\.0\.1:\d+, backing off until 2/) },
    ]);
    expect(await run("why", "zoe@example.org")).toContainEqual({
      at: expect.any(String),
      what: "campaign waits",
      detail: expect.stringMatching(/Waiting for the SMTP server: .*421 .*"Six books" of Lantern Books$/),
    });
    expect((await run("doctor")).find(({ check }) => check === "mail servers")).toMatchObject({
      area: "companies",
      state: "warn",
      found: expect.stringMatching(/^waiting: 1 campaign of Lantern Books for 127\.0\.0\.1:\d+ \(.*421/),
    });
    expect(await ask("operator.senders")).toMatchObject([
      { node: cluster.app.broker.nodeID, in_doubt: expect.any(Number) },
    ]);
    expect(await ask("operator.batches")).toEqual(expect.any(Array));
    answer = () => undefined;
    expect(await ended(stuck)).toMatchObject({ status: "completed" });
  });

  test("a campaign whose warm-up day is full waits for the next day, not for a sender", async () => {
    const warmup = { start_per_day: 1, factor: 2, until_per_day: 10 };
    const waiting = await sendTo([{ email: "zoe@example.org" }, { email: "ada@example.org" }], { warmup });
    const [row] = await until(
      () => ask("operator.campaigns"),
      ([first]) => `${first?.waiting_for}`.includes("warm-up"),
    );
    expect(row).toMatchObject({
      id: waiting,
      sent_count: 1,
      waiting_for: expect.stringMatching(/^the next day of its warm-up at 2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    expect((await api.post(`${API}/campaigns/${waiting}/stop/`)).status).toBe(200);
    expect(await ended(waiting)).toMatchObject({ status: "partial", sent_count: 1 });
  });

  test("slow domains: the domain, its answer and its rate", async () => {
    answer = ({ verb, to }) =>
      verb === "RCPT" && to.endsWith("@slow.example") ? "451 4.7.1 Not so fast, id 12" : undefined;
    await send(...["a", "b", "c", "d", "e"].map((name) => `${name}@slow.example`));
    const [slow] = await until(
      () => ask("operator.slowDomains"),
      (rows) => rows.length > 0,
    );
    expect(slow).toMatchObject({
      domain: "slow.example",
      per_minute: expect.any(Number),
      says: "451 # not so fast, id #",
    });
    const { body } = await api.get(`${API}/stats/slow-domains/`);
    expect(body).toMatchObject([{ domain: "slow.example", per_minute: slow!.per_minute }]);
    answer = () => undefined;
  });

  test("requeue: failed webhooks are delivered, and status lists failing endpoints", async () => {
    const got: string[] = [];
    const receiver = createServer((request, response) => {
      got.push(request.headers["webhook-id"] as string);
      response.writeHead(200).end();
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const { body: endpoint } = await api.post(`${API}/webhook-endpoints/`, { url, events: ["bounced"] });
    await query(
      `insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload, status, attempts, last_error, next_attempt_at)
       values ($1, $2, gen_random_uuid(), 'bounced', '{}', 'dead', 8, 'Answered 500.', null)`,
      [company, endpoint.id],
    );
    expect(await ask("operator.webhooks")).toMatchObject([{ endpoint_id: endpoint.id, url, pending: 0, dead: 1 }]);
    expect(await ask("operator.deadWebhooks", { endpoint_id: endpoint.id })).toMatchObject([
      { attempts: 8, last_error: "Answered 500." },
    ]);
    await query("update webhook_endpoints set disabled_at = now() where id = $1", [endpoint.id]);
    expect((await one("status")).failing_webhooks).toMatchObject([
      { endpoint_id: endpoint.id, company: "Lantern Books" },
    ]);
    expect(await one("requeue", endpoint.id)).toEqual({ requeued: 1 });
    await until(
      async () => got.length,
      (n) => n === 1,
    );
    receiver.close();
    receiver.closeAllConnections();
  });

  test("trace: one mail's story in order, by its id, its Message-ID and its address", async () => {
    const url = "http://127.0.0.1:9/traced";
    const { body: endpoint } = await api.post(`${API}/webhook-endpoints/`, { url, events: ["delivered", "opened"] });
    answer = ({ verb }) => (verb === "DOT" ? "250 2.0.0 Ok: queued as 4XyZ12abc" : undefined);
    const traced = await sendTo([{ email: "ivy@example.org", cc: ["copy@example.org"] }]);
    expect(await ended(traced)).toMatchObject({ status: "completed" });
    answer = () => undefined;
    const [mail] = (await api.get(`${API}/sent-emails/?campaign=${traced}`)).body.results;
    await query(
      `insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, machine)
       values ($1, $2, $3, 'opened', 'ivy@example.org', true)`,
      [company, traced, mail.id],
    );
    const story = await run("trace", mail.id);
    const times = story.map(({ at }) => at as string);
    expect(times).toEqual(times.toSorted());
    const order = ["campaign created", "queued", "sending began", "taken", "sent", "opened (machine)"];
    expect(story.map(({ what }) => what as string).filter((what) => order.includes(what))).toEqual(order);
    const detailOf = (what: string) => story.find((step) => step.what === what)?.detail;
    expect(detailOf("campaign created")).toContain(`through S (127.0.0.1:${smtp.port})`);
    expect(detailOf("taken")).toContain(`by ${cluster.app.broker.nodeID} with chunk`);
    expect(detailOf("sent")).toContain("queued as 4XyZ12abc");
    const { raw } = smtp.messages.findLast(({ to }) => to.includes("ivy@example.org"))!;
    const messageId = /^Message-ID: (<.+>)/im.exec(raw)![1]!;
    expect(detailOf("known as")).toBe(`Message-ID ${messageId}, queue id 4XyZ12abc`);
    expect(detailOf("copy sent")).toContain("copy@example.org");
    expect(story.find(({ detail }) => `${detail}`.startsWith(`delivered to ${url}`))?.what).toMatch(/^webhook /);
    for (const name of [messageId, messageId.slice(1, -1), "Ivy@example.org"])
      expect((await run("trace", name)).map(({ what }) => what)).toEqual(story.map(({ what }) => what));
    await api.delete(`${API}/webhook-endpoints/${endpoint.id}/`);
    await expect(run("trace", "00000000-0000-4000-8000-000000000000")).rejects.toThrow("Not found.");
    await expect(run("trace", "stranger@example.com")).rejects.toThrow("Not found.");
  });

  test("trace of a waiting mail: the deferral, the next try, and what its campaign waits for", async () => {
    answer = ({ verb }) => (verb === "RCPT" ? "451 4.3.0 come again" : undefined);
    const deferred = await send("uma@example.org");
    const story = await until(
      () => run("trace", "uma@example.org").catch(() => []),
      (steps) => ["next try", "campaign waits"].every((one) => steps.some(({ what }) => what === one)),
    );
    const next = story.find(({ what }) => what === "next try")!;
    expect(next.detail).toContain("451 4.3.0 come again");
    expect(new Date(next.at as string).getTime()).toBeGreaterThan(Date.now());
    expect(story).toContainEqual(
      expect.objectContaining({ what: "campaign waits", detail: expect.stringMatching(/^for /) }),
    );
    answer = () => undefined;
    await one("stop", deferred);
    expect(await ended(deferred)).toMatchObject({ status: "cancelled" });
  });

  test("status: nodes, senders, campaigns, queues and dependencies in one answer shared by viewers", async () => {
    await one("pause", company);
    const held = await send("zoe@example.org");
    const [first, second] = await Promise.all([one("status"), one("status")]);
    expect(second).toEqual(first);
    const looked = await until(
      () => one("status"),
      ({ nodes, limiter_waits_per_second }) =>
        (nodes as { cpu_percent: number | null }[])[0]!.cpu_percent !== null && limiter_waits_per_second !== null,
    );
    expect(looked).toMatchObject({
      nodes: [
        {
          node: cluster.app.broker.nodeID,
          // Not ready while a busy machine's database takes a second to answer.
          state: expect.stringMatching(/ready$/),
          version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
          services: expect.arrayContaining(["gateway", "smtp-sender"]),
          memory_bytes: expect.any(Number),
          event_loop_lag_ms: expect.any(Number),
          sender: { in_doubt: 0, max_in_doubt: expect.any(Number), deferred: expect.any(Number) },
        },
      ],
      // Campaigns of other tests may continue.
      campaigns: expect.arrayContaining([
        expect.objectContaining({ id: held, waiting_for: "the company to be unpaused" }),
      ]),
      unfinished_campaigns: expect.any(Number),
      dependencies: [{ what: "PostgreSQL" }, { what: "Redis" }, { what: "NATS" }],
      errors: [],
    });
    const command = commandNamed("status")!;
    expect(command.print!([looked], [])).toContain("of 1 nodes ready");
    await one("stop", held);
    await one("unpause", company);
  });

  test("doctor: dependencies, nodes, settings, name servers and disk, without secrets", async () => {
    const findings = await run("doctor");
    const stateOf = (area: string, check: string) =>
      findings.find((finding) => finding.area === area && finding.check === check)?.state;
    for (const [area, ...checks] of [
      [
        "PostgreSQL",
        "version",
        "migrations",
        "partitions of recipients",
        "partitions of hits",
        "campaign numbers",
        "clock",
        "long transactions",
        "indexes",
      ],
      ["Redis", "version", "eviction", "clock"],
      ["NATS", "version", "max_payload"],
      ["nodes", "services", "version", "version of the command", "clocks"],
      ["settings", "stored secrets"],
      ["companies", "mail servers", "opens and clicks", "time zones"],
    ] as [string, ...string[]][])
      for (const check of checks) expect([area, check, stateOf(area, check)]).toEqual([area, check, "ok"]);
    // May take long on a busy machine.
    const answers = [
      stateOf("PostgreSQL", "answers"),
      stateOf("Redis", "counts limits"),
      stateOf("NATS", "round trip"),
    ];
    for (const state of answers) expect(["ok", "warn"]).toContain(state);
    // The key has six different characters, and the tests' name server never answers.
    expect(stateOf("settings", "SECRET_KEY")).toBe("warn");
    expect(stateOf("DNS", "name servers")).toBe("fail");
    for (const { state, advice } of findings) expect(advice === "").toBe(state === "ok");
    const text = JSON.stringify(findings);
    for (const secret of [process.env.SECRET_KEY!, new URL(cluster.app.databaseUrl).password].filter(Boolean))
      expect(text).not.toContain(secret);
    expect(commandNamed("doctor")!.exitCode!(findings)).toBe(2);
  });

  test("doctor: unrecorded hits of the last day, and time zones unknown to PostgreSQL", async () => {
    const count = `insert into campaign_counts (company_id, campaign_id, metric, bucket, slot, n)
      select company_id, id, 'opened_unrecorded', floor(extract(epoch from now()) / 3600)::int - $2::int, 0, $3
      from campaigns where id = $1`;
    await query(count, [campaign, 30, 1_000]);
    await query(count, [campaign, 1, 7]);
    await query("update companies set timezone = 'Mars/Olympus' where id = $1", [company]);
    const ofCompanies = (await run("doctor")).filter(({ area }) => area === "companies");
    await query("update companies set timezone = 'UTC' where id = $1", [company]);
    expect(ofCompanies).toMatchObject([
      { check: "mail servers", state: "ok" },
      { check: "opens and clicks", state: "warn", found: "7 of the last 24 hours not recorded, in 1 campaign" },
      { check: "time zones", state: "fail", found: "unknown to PostgreSQL: Mars/Olympus of Lantern Books" },
    ]);
  });

  test("health for the console: each serving node's own report, without the operator's node", async () => {
    expect(await ask("operator.health")).toEqual([
      expect.objectContaining({ ready: true, state: "started", database: "ok", redis: "ok", nats: "ok" }),
    ]);
  });

  test("dependencies for the console: state and response time", async () => {
    const fast = { state: "ok", latency_ms: expect.any(Number) };
    expect(await ask("operator.dependencies")).toMatchObject([
      {
        what: "PostgreSQL",
        ...fast,
        version: expect.stringMatching(/^\d+\.\d/),
        detail: expect.stringContaining(" of "),
      },
      { what: "Redis", ...fast, version: expect.stringMatching(/^(Redis|Valkey) \d/) },
      { what: "NATS", ...fast, version: expect.stringMatching(/^2\./) },
    ]);
  });

  test("console-link, console-sessions, end-console-session: open, list and revoke console access", async () => {
    const { url, good_until } = await one("console-link", "Ada");
    expect(url).toMatch(/^http:\/\/[^/]+\/app\/operator\/sign-in\?token=[\w-]{43}$/);
    const seconds = (new Date(good_until as string).getTime() - Date.now()) / 1_000;
    expect(seconds).toBeGreaterThan(60);
    expect(seconds).toBeLessThanOrEqual(300);
    const [made] = await run("console-sessions");
    expect(made).toMatchObject({ name: "Ada", state: "link not used yet", began_at: null });
    expect(JSON.stringify(made)).not.toContain(new URL(url as string).searchParams.get("token"));
    const id = made!.session_id as string;
    expect(await one("end-console-session", id)).toEqual({ session_id: id, state: "ended" });
    await expect(run("end-console-session", id)).rejects.toThrow("Not found.");
  });

  // test/integration/console/operator.test.ts follows the link.
  test("sign-in-link is refused for an unknown address", async () => {
    await expect(run("sign-in-link", "nobody@example.com")).rejects.toThrow("Not found.");
  });

  test("reseal: does nothing while the key is unchanged", async () => {
    const rows = await run("reseal");
    expect(rows.map(({ resealed, unreadable }) => [resealed, unreadable])).toEqual(rows.map(() => [0, 0]));
  });

  test("stop ends a campaign of any company", async () => {
    await one("pause", company);
    const held = await send("zoe@example.org");
    expect(await one("stop", held)).toMatchObject({ id: held, error: "Stopped by the operator." });
    expect(await ended(held)).toMatchObject({ status: "cancelled" });
    await one("unpause", company);
  });

  test("every command is tested here", () => {
    expect([...asked].sort()).toEqual(commands.map(({ name }) => name).sort());
  });
});
