/** Opens and clicks over HTTP: answered once stored, counted once, measured and traced by route. */
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { readMetrics } from "../../../services/lib/metrics.ts";
import { type App, startApp } from "../../support/app.ts";
import { someIp } from "../../support/client.ts";
import { type Collector, type SeenSpan, startCollector } from "../../support/otlp-collector.ts";
import { storedEvents } from "../../support/stored-events.ts";
import { FIREFOX, newWorld, token, type World } from "./world.ts";

const OPEN = "/api/emails/public/open/:token.gif";
const CLICK = "/api/emails/public/click/:token/";

describe("an open or a click over HTTP", () => {
  let app: App;
  let collector: Collector;
  let world: World;
  beforeAll(async () => {
    collector = await startCollector();
    // Samples so rarely that only explicitly traced requests are recorded.
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: "0.000000000001" };
    app = await startApp({ services: ["gateway", "accounts", "tracking"], env });
  });
  afterAll(async () => {
    await app?.stop();
    await collector?.stop();
  });
  beforeEach(async () => {
    world = await newWorld(3);
  });

  const pixel = (n = 0) => OPEN.replace(":token", token(world.mails[n]!.id, 0));
  const link = (n = 0) => CLICK.replace(":token", token(world.mails[n]!.id, 1));
  const forged = () => OPEN.replace(":token", token(newId(), 0));
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, app.url), {
      headers: { "user-agent": FIREFOX, "x-forwarded-for": someIp(), ...headers },
      redirect: "manual",
    });
  const types = async () => (await storedEvents(world.companyId)).map(({ type }) => type);
  const samplesOf = async (name: string, route: string, status = "") =>
    (await readMetrics()).split("\n").flatMap((line) => {
      const is = line.startsWith(`${name}{`) && line.includes(`route="${route}"`) && line.includes(status);
      return is ? [Number(line.split(" ").at(-1))] : [];
    });

  test("has the same answer with a query; each is stored once", async () => {
    const answerOf = async (path: string) => {
      const response = await get(path);
      const headers = Object.fromEntries(response.headers);
      for (const name of ["x-request-id", "date"]) {
        expect(headers[name]).toBeDefined();
        delete headers[name];
      }
      return { status: response.status, headers, body: await response.text() };
    };
    const [open, click] = [await answerOf(pixel()), await answerOf(link())];
    expect([open.status, click.status]).toEqual([200, 302]);
    expect(open.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(await answerOf(`${pixel()}?x=1`)).toEqual(open);
    expect(await answerOf(`${link()}?x=1`)).toEqual(click);
    expect(await answerOf(forged())).toEqual(await answerOf(`${forged()}?x=1`));
    expect((await types()).toSorted()).toEqual(["clicked", "clicked", "opened", "opened"]);
  });

  test("is answered with the request's id if valid, else with a new one, also on failure", async () => {
    for (const path of [pixel(), forged()]) {
      const idOf = async (given: string) => (await get(path, { "x-request-id": given })).headers.get("x-request-id");
      expect(await idOf("r-1")).toBe("r-1");
      expect(await idOf("no id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test("is measured by route, and failures are logged by route, once and without the token", async () => {
    const counts = async () => [
      await samplesOf("flockmail_http_requests_total", OPEN, 'status="200"'),
      await samplesOf("flockmail_http_requests_total", OPEN, 'status="404"'),
      await samplesOf("flockmail_http_requests_total", CLICK, 'status="302"'),
      await samplesOf("flockmail_http_request_duration_seconds_count", OPEN),
    ];
    const [ok = 0, unknown = 0, led = 0, timed = 0] = (await counts()).map(([n]) => n);
    const info = jest.spyOn(app.broker.logger, "info").mockImplementation(() => {});
    for (const path of [pixel(), forged(), link()]) await get(path, { "x-request-id": "r-2" });
    const { calls } = info.mock;
    info.mockRestore();
    const entry = { method: "GET", route: OPEN, status: 404, requestId: "r-2", durationMs: expect.any(Number) };
    expect(calls).toEqual([[entry, `GET ${OPEN} 404`]]);
    expect(await counts()).toEqual([[ok + 1], [unknown + 1], [led + 1], [timed + 2]]);
  });

  test("many concurrent requests each get their own answer, and all that succeed are stored once", async () => {
    const paths = Array.from({ length: 60 }, (_, n) => (n % 6 === 5 ? forged() : n % 2 ? link(n % 3) : pixel(n % 3)));
    const statuses = (await Promise.all(paths.map((path) => get(path)))).map(({ status }) => status);
    expect(statuses).toEqual(paths.map((_, n) => (n % 6 === 5 ? 404 : n % 2 ? 302 : 200)));
    const stored = await types();
    expect([stored.filter((type) => type === "opened").length, stored.length]).toEqual([30, 50]);
  });

  test("beyond 60 per minute from one address is recorded until one message has 60 of them", async () => {
    const from = { "x-forwarded-for": someIp() };
    const statusesOf = async (paths: string[]) =>
      Promise.all(paths.map(async (path) => (await get(path, from)).status));
    const spread = Array.from({ length: 60 }, (_, n) => pixel(n % 3));
    expect(new Set(await statusesOf(spread))).toEqual(new Set([200]));
    expect(await statusesOf([pixel(1), link(1)])).toEqual([429, 302]);
    expect((await types()).length).toBe(62);
    expect(new Set(await statusesOf(Array.from({ length: 42 }, () => pixel(0))))).toEqual(new Set([429]));
    expect(await statusesOf([link(0)])).toEqual([302]);
    expect((await types()).length).toBe(102);
    const { not_recorded } = await call(
      app.broker,
      "tracking.analytics",
      { id: world.campaignId },
      { meta: { companyId: world.companyId } },
    );
    expect(not_recorded).toEqual({ opens: 2, clicks: 1 });
  });

  test("has a span with its route if the caller requests tracing, and is stored once", async () => {
    const traceId = newId().replaceAll("-", "");
    const response = await get(pixel(), { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    expect(response.status).toBe(200);
    const ofRequest = (all: SeenSpan[]) =>
      all.filter((span) => span.traceId === traceId && span.name.startsWith("GET"));
    expect(ofRequest(await collector.until((all) => ofRequest(all).length > 0))).toMatchObject([
      { name: `GET ${OPEN}`, kind: "server", attributes: { "http.route": OPEN, "http.response.status_code": 200 } },
    ]);
    expect(await types()).toEqual(["opened"]);
  });

  test("is 400 without a host and is not stored", async () => {
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(`GET ${pixel()} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await types()).toEqual([]);
  });

  test("is put into the outbox of the company's endpoints that subscribed to its kind", async () => {
    const other = await newWorld(3);
    const endpoint = (company: World, events: string) =>
      query(
        `insert into webhook_endpoints (id, company_id, url, events, secret_sealed)
         values ($1, $2, 'https://example.com/', $3, '')`,
        [newId(), company.companyId, events],
      );
    await endpoint(world, "{clicked}");
    await endpoint(other, "{opened,bounced}");
    const all = [world, other].flatMap(({ mails }) => mails.map(({ id }) => id));
    const paths = all.flatMap((id) => [OPEN.replace(":token", token(id, 0)), CLICK.replace(":token", token(id, 2))]);
    await Promise.all(paths.map((path) => get(path)));
    for (const [of, type] of [
      [world, "clicked"],
      [other, "opened"],
    ] as const) {
      const queued = await query<{ payload: { type: string; recipient: string; sent_email_id: string } }>(
        "select payload from webhook_deliveries where company_id = $1",
        [of.companyId],
      );
      const told = queued.map(({ payload }) => [payload.type, payload.recipient, payload.sent_email_id]);
      expect(told.toSorted()).toEqual(of.mails.map(({ id, email }) => [type, email, id]).toSorted());
    }
  });
});
