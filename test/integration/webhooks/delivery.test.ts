import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { type Queryable, query, queryOne, transaction } from "../../../models/database/db.ts";
import type { EmailEventType } from "../../../models/email-event.ts";
import { CLAIM, recordAttempts } from "../../../models/statements/webhook-deliveries.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";
import { call, emitWebhookQueued } from "../../../services/call.ts";
import type { ActionOf, ParamsOf } from "../../../services/contracts.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { stopRepetitions } from "../../support/repetitions.ts";
import { statementsOf } from "../../support/statements.ts";

interface Got {
  headers: Record<string, string>;
  body: string;
}
type Answer = (request: IncomingMessage, respond: (status: number, body?: string) => void, got: Got) => void;

interface Receiver {
  url: string;
  got: Got[];
  close(): void;
}

const servers: Server[] = [];

const HAPPENS_WITHIN_MS = 45_000;

/** Receiver on loopback; `answer` may leave a request hanging. */
async function receiver(answer: Answer): Promise<Receiver> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const entry = { headers: request.headers as Record<string, string>, body };
      got.push(entry);
      answer(
        request,
        (status, text = "") => response.writeHead(status, { location: "http://127.0.0.1:1/" }).end(text),
        entry,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    got,
    close: () => server.closeAllConnections(),
  };
}

const ok: Answer = (_, respond) => respond(200);

interface Event {
  id: string;
  company_id: string;
  type: EmailEventType;
  recipient: string;
  sent_email_id: string | null;
  campaign_id: string | null;
  metadata: Record<string, unknown>;
  created_at: string;
}

const QUEUE = `
  with event as (
    select * from json_to_recordset($1::json) as e (id uuid, company_id uuid, type text, recipient text,
      sent_email_id uuid, campaign_id uuid, metadata jsonb, created_at timestamptz))
  ${outboxInsert("event")}`;

/** Returns the companies with new deliveries. */
async function queueWebhooks(events: readonly Event[], on: Queryable): Promise<string[]> {
  const rows = await query<{ company_id: string }>(QUEUE, [JSON.stringify(events)], on);
  return [...new Set(rows.map((row) => row.company_id))];
}

describe("webhook delivery", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts", "webhooks"] });
    // `until` runs the claim; its timer would take deliveries that a test waits for.
    await stopRepetitions(app.broker, "deliverDue");
  });
  afterAll(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    await app.stop();
  });

  async function company(): Promise<string> {
    const id = newId();
    await query("insert into companies (id, name, plan) values ($1, 'Acme', 'unlimited')", [id]);
    return id;
  }
  const as = <A extends ActionOf>(companyId: string, action: A, params: ParamsOf<A>) =>
    call(app.broker, action, params, { meta: { companyId, role: "owner" } });

  const event = (companyId: string, type: EmailEventType = "opened"): Event => ({
    id: newId(),
    company_id: companyId,
    type,
    recipient: "ann@example.com",
    sent_email_id: newId(),
    campaign_id: newId(),
    metadata: { user_agent: "Mail ⟨ü⟩", machine: false },
    created_at: new Date().toISOString(),
  });

  /** Runs the delivery loop until `done`. */
  async function until(done: () => boolean | Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + HAPPENS_WITHIN_MS; Date.now() < deadline; ) {
      await call(app.broker, "webhooks.deliverDue", {});
      if (await done()) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error("It did not happen");
  }

  /** Makes waiting retries due. */
  const hurry = (companyId: string) =>
    query("update webhook_deliveries set next_attempt_at = now() where company_id = $1 and status = 'pending'", [
      companyId,
    ]);

  const rowsOf = (companyId: string) =>
    query<{
      status: string;
      attempts: number;
      last_error: string | null;
      response_status: number | null;
      wait: number;
    }>(
      `select status, attempts, last_error, response_status, round(extract(epoch from next_attempt_at - now()))::int wait
       from webhook_deliveries where company_id = $1 order by id`,
      [companyId],
    );

  test("an event reaches a subscribed endpoint once, signed so that the standardwebhooks library accepts it", async () => {
    const id = await company();
    const { url, got } = await receiver(ok);
    const { secret } = await as(id, "webhooks.create", { url, events: ["opened"] });
    const opened = event(id);
    const companies = await transaction((client) => queueWebhooks([opened, event(id, "clicked")], client));
    expect(companies).toEqual([id]);
    await until(async () => (await rowsOf(id)).every(({ status }) => status === "succeeded"));
    expect(got).toHaveLength(1);
    const { headers, body } = got[0]!;
    expect(headers["webhook-id"]).toBe(opened.id);
    const payload = new Webhook(secret).verify(body, headers);
    expect(payload).toEqual({
      id: opened.id,
      type: "opened",
      recipient: opened.recipient,
      sent_email_id: opened.sent_email_id,
      campaign_id: opened.campaign_id,
      metadata: opened.metadata,
      timestamp: opened.created_at,
    });
  });

  test("while a secret is rotated both the old and the new one verify", async () => {
    const id = await company();
    const { url, got } = await receiver(ok);
    const created = await as(id, "webhooks.create", { url, events: ["opened"] });
    const rotated = await as(id, "webhooks.rotateSecret", { id: created.id });
    await transaction((client) => queueWebhooks([event(id)], client));
    await until(() => got.length === 1);
    for (const secret of [created.secret, rotated.secret]) {
      expect(new Webhook(secret).verify(got[0]!.body, got[0]!.headers)).toMatchObject({ type: "opened" });
    }
    await query("update webhook_endpoints set old_secret_until = now() where company_id = $1", [id]);
    await transaction((client) => queueWebhooks([event(id)], client));
    await until(() => got.length === 2);
    expect(() => new Webhook(created.secret).verify(got[1]!.body, got[1]!.headers)).toThrow();
  });

  test("a failing delivery is retried on schedule with the same webhook-id, then dead", async () => {
    const id = await company();
    const { url, got } = await receiver((_, respond) => respond(500));
    await as(id, "webhooks.create", { url, events: ["opened"] });
    await transaction((client) => queueWebhooks([event(id)], client));
    const waits = [5, 30, 300, 1800, 7200, 18_000, 36_000];
    for (const [tried, wait] of waits.entries()) {
      await until(async () => (await rowsOf(id))[0]!.attempts === tried + 1);
      expect((await rowsOf(id))[0]).toMatchObject({
        status: "pending",
        response_status: 500,
        last_error: "Answered 500.",
      });
      expect(Math.abs((await rowsOf(id))[0]!.wait - wait)).toBeLessThanOrEqual(2);
      await hurry(id);
    }
    await until(async () => (await rowsOf(id))[0]!.status === "dead");
    expect(new Set(got.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(got).toHaveLength(8);
  });

  test("redirects are not followed, a 10 MB answer is not read", async () => {
    const id = await company();
    const redirecting = await receiver((_, respond) => respond(302));
    const talkative = await receiver((_, respond) => respond(200, "x".repeat(10 * 1024 * 1024)));
    await as(id, "webhooks.create", { url: redirecting.url, events: ["opened"] });
    await as(id, "webhooks.create", { url: talkative.url, events: ["clicked"] });
    await transaction((client) => queueWebhooks([event(id), event(id, "clicked")], client));
    await until(async () => (await rowsOf(id)).every(({ attempts }) => attempts === 1));
    expect((await rowsOf(id)).map(({ status }) => status).toSorted()).toEqual(["pending", "succeeded"]);
    expect((await rowsOf(id)).find(({ status }) => status === "pending")!.last_error).toContain(
      "redirects are not followed",
    );
  });

  // Simulates a DNS change: the address was valid when saved, and is not at delivery.
  test.each([
    ["https:", /not on the public internet/],
    ["http:", /must start with https/],
  ])("an endpoint (%s) whose host is no longer public is not contacted; the log says why", async (scheme, why) => {
    const id = await company();
    let connections = 0;
    const { url } = await receiver(ok);
    servers.at(-1)!.on("connection", () => connections++);
    await as(id, "webhooks.create", { url: url.replace("http:", scheme), events: ["opened"] });
    const { config } = await import("../../../services/lib/config.ts");
    Object.assign(config(), { ALLOW_PRIVATE_NETWORKS: false });
    try {
      await transaction((client) => queueWebhooks([event(id)], client));
      await until(async () => (await rowsOf(id))[0]!.attempts === 1);
    } finally {
      Object.assign(config(), { ALLOW_PRIVATE_NETWORKS: true });
    }
    expect((await rowsOf(id))[0]).toMatchObject({ status: "pending", last_error: expect.stringMatching(why) });
    expect(connections).toBe(0);
  });

  test("a hanging endpoint does not delay forty-nine others", async () => {
    const id = await company();
    const hanging = await receiver(() => {});
    const others = await Promise.all(Array.from({ length: 49 }, () => receiver(ok)));
    await as(id, "webhooks.create", { url: hanging.url, events: ["opened"] });
    for (const { url } of others) await as(id, "webhooks.create", { url, events: ["opened"] });
    const events = Array.from({ length: 20 }, () => event(id));
    await transaction((client) => queueWebhooks(events, client));
    await until(() => others.every(({ got }) => got.length === 20));
    // Concurrency per endpoint is limited, so the hanging one cannot use up the others' share.
    expect(hanging.got.length).toBeLessThanOrEqual(16);
    hanging.close();
    await query("delete from webhook_endpoints where company_id = $1", [id]);
  });

  /** Simulates a node that claimed it when it was queued. */
  const queueClaimed = (id: string, lease: string) =>
    transaction(async (client) => {
      await queueWebhooks([event(id)], client);
      await query(
        "update webhook_deliveries set next_attempt_at = now() + $2::interval where company_id = $1",
        [id, lease],
        client,
      );
    });

  test("a killed node's deliveries are repeated under the same id when their lease ends", async () => {
    const id = await company();
    const { url, got } = await receiver(ok);
    await as(id, "webhooks.create", { url, events: ["opened"] });
    await queueClaimed(id, "1 second");
    expect(got).toHaveLength(0);
    await until(async () => (await rowsOf(id))[0]?.status === "succeeded");
    expect(got).toHaveLength(1);
    expect((await rowsOf(id))[0]).toMatchObject({ attempts: 1 });
  });

  test("three days of failures disable an endpoint and end its deliveries; an update enables it", async () => {
    const id = await company();
    const { url } = await receiver((_, respond) => respond(503));
    const { id: endpoint } = await as(id, "webhooks.create", { url, events: ["opened"] });
    await query("update webhook_endpoints set failing_since = now() - interval '73 hours' where company_id = $1", [id]);
    await transaction((client) => queueWebhooks([event(id)], client));
    await until(async () => (await as(id, "webhooks.get", { id: endpoint })).disabled_at !== null);
    await transaction((client) => queueWebhooks([event(id)], client));
    await call(app.broker, "webhooks.purge", {});
    expect((await rowsOf(id)).map(({ status }) => status)).toEqual(["dead"]);
    await expect(as(id, "webhooks.test", { id: endpoint })).rejects.toMatchObject({ code: "WRONG_STATE" });
    const updated = await as(id, "webhooks.update", { id: endpoint, url, events: ["opened", "opened"] });
    expect(updated).toMatchObject({ disabled_at: null, events: ["opened"] });
  });

  test("an endpoint disabled on request gets no events until it is enabled, and none of the events in between", async () => {
    const id = await company();
    const { url, got } = await receiver(ok);
    const { id: endpoint } = await as(id, "webhooks.create", { url, events: ["opened"] });
    const off = await as(id, "webhooks.update", { id: endpoint, url, events: ["opened"], disabled: true });
    expect(off).toMatchObject({ disabled_at: expect.any(String), failing_since: null });
    await transaction((client) => queueWebhooks([event(id)], client));
    await expect(as(id, "webhooks.test", { id: endpoint })).rejects.toMatchObject({ code: "WRONG_STATE" });
    expect(await as(id, "webhooks.update", { id: endpoint, url, events: ["opened"] })).toMatchObject({
      disabled_at: null,
    });
    await as(id, "webhooks.test", { id: endpoint });
    await until(() => got.length > 0);
    expect(got.map(({ body }) => JSON.parse(body).metadata)).toEqual([{ test: true }]);
  });

  test("the log quotes refusals, contains the payload, and filters by status and event", async () => {
    const id = await company();
    const { url, got } = await receiver((_, respond) => respond(500, `no\u0007 database\n${"x".repeat(100_000)}`));
    const { id: endpoint } = await as(id, "webhooks.create", { url, events: ["opened", "clicked"] });
    await transaction((client) => queueWebhooks([event(id), event(id, "clicked")], client));
    const list = (params: Partial<ParamsOf<"webhooks.listDeliveries">> = {}) =>
      as(id, "webhooks.listDeliveries", { id: endpoint, ...params });
    await until(async () => (await list()).results.every(({ response_status }) => response_status === 500));
    const { results } = await list({ event_type: "clicked" });
    expect(results).toHaveLength(1);
    expect(results[0]!.last_error).toMatch(/^The endpoint answered 500: no {1,2}database x{100,300}$/);
    const shown = await as(id, "webhooks.getDelivery", { id: endpoint, delivery_id: results[0]!.id });
    expect(shown.payload).toEqual(got.map(({ body }) => JSON.parse(body)).find(({ type }) => type === "clicked"));
    expect((await list({ status: "pending" })).count).toBe(2);
    expect(await list({ status: "succeeded" })).toMatchObject({ count: 0, results: [] });
    const other = await company();
    const theirs = as(other, "webhooks.getDelivery", { id: endpoint, delivery_id: results[0]!.id });
    await expect(theirs).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("a success after failures resets failing_since", async () => {
    const id = await company();
    const { url } = await receiver(ok);
    await as(id, "webhooks.create", { url, events: ["opened"] });
    await query("update webhook_endpoints set failing_since = now() - interval '1 hour' where company_id = $1", [id]);
    await transaction((client) => queueWebhooks([event(id)], client));
    await until(async () => (await rowsOf(id))[0]!.status === "succeeded");
    const row = await queryOne("select failing_since from webhook_endpoints where company_id = $1", [id]);
    expect(row).toEqual({ failing_since: null });
  });

  test("a result with a lost lease changes neither the delivery nor its endpoint", async () => {
    const id = await company();
    const { url } = await receiver((_, respond) => respond(503));
    const { id: endpoint } = await as(id, "webhooks.create", { url, events: ["opened"] });
    await transaction((client) => queueWebhooks([event(id)], client));
    await query("update webhook_deliveries set next_attempt_at = now() + interval '1 hour' where company_id = $1", [
      id,
    ]);
    const [delivery] = await query<{ id: string }>("select id from webhook_deliveries where company_id = $1", [id]);
    await recordAttempts([
      {
        id: delivery!.id,
        company_id: id,
        endpoint_id: endpoint,
        lease: new Date(0).toISOString(),
        attempted: true,
        ok: false,
        response_status: 503,
        error: "late",
        retry_seconds: 60,
      },
    ]);
    expect(await queryOne("select failing_since from webhook_endpoints where company_id = $1", [id])).toEqual({
      failing_since: null,
    });
    expect((await rowsOf(id))[0]).toMatchObject({ status: "pending", attempts: 0 });
  });

  test("test events and redelivery; the log is a list with its count", async () => {
    const id = await company();
    const { url, got } = await receiver(ok);
    const { id: endpoint } = await as(id, "webhooks.create", { url, events: ["clicked"] });
    const tested = await as(id, "webhooks.test", { id: endpoint });
    expect(tested).toMatchObject({ status: "pending", attempts: 0, event_type: "clicked" });
    await until(() => got.length === 1);
    expect(JSON.parse(got[0]!.body)).toMatchObject({ metadata: { test: true } });
    await until(async () => (await rowsOf(id))[0]!.status === "succeeded");
    await as(id, "webhooks.redeliver", { id: endpoint, delivery_id: tested.id });
    await until(() => got.length === 2);
    expect(got[1]!.headers["webhook-id"]).toBe(got[0]!.headers["webhook-id"]);
    await until(async () => (await rowsOf(id))[0]!.status === "succeeded");
    const log = await as(id, "webhooks.listDeliveries", { id: endpoint });
    expect(log).toMatchObject({ count: 1, results: [{ id: tested.id, status: "succeeded", response_status: 200 }] });
    const stranger = await company();
    await expect(as(stranger, "webhooks.redeliver", { id: endpoint, delivery_id: tested.id })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(as(stranger, "webhooks.listDeliveries", { id: endpoint })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("deliveries of forty companies are claimed with few statements", async () => {
    const { url, got } = await receiver(ok);
    const companies = await Promise.all(Array.from({ length: 40 }, company));
    for (const id of companies) await as(id, "webhooks.create", { url, events: ["opened"] });
    const queued = await transaction((client) =>
      queueWebhooks(
        companies.map((id) => event(id)),
        client,
      ),
    );
    const statements = await statementsOf(() => emitWebhookQueued(app.broker, queued));
    // Retries of earlier tests may be due, too.
    const claims = statements
      .filter(({ text }) => text === CLAIM)
      .map(({ values }) => (values[0] as string[]).filter((id) => companies.includes(id)))
      .filter((claimed) => claimed.length > 0);
    expect(new Set(claims.flat())).toEqual(new Set(companies));
    expect(claims.length).toBeLessThan(10);
    await until(() => got.length === companies.length);
  });

  test("an event of a company without an endpoint queues nothing", async () => {
    const id = await company();
    expect(await transaction((client) => queueWebhooks([event(id)], client))).toEqual([]);
    expect(await rowsOf(id)).toEqual([]);
  });
});
