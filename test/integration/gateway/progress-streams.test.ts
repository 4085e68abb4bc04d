/** Server-sent events over HTTP from a test's own campaign. */
import type { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../../services/gateway/http/context.ts";
import { EventStream } from "../../../services/gateway/http/event-stream.ts";
import type { CampaignProgress } from "../../../services/gateway/pace.ts";
import { notFound } from "../../../services/lib/errors.ts";
import { newId } from "../../../services/lib/ids.ts";
import { Type, Uuid } from "../../../services/lib/shapes.ts";
import { sample, startGateway, type TestGateway } from "../../support/gateway.ts";

const VIEWERS = 200;
const SENDING: CampaignProgress = {
  status: "sending",
  total_emails: 100,
  sent_count: 0,
  failed_count: 0,
  opens: 0,
  clicks: 0,
  per_second: 0,
  seconds_left: null,
  retrying: 0,
  next_retry_at: null,
};

let gateway: TestGateway;
let asked: Map<string, number>;
let moments: Map<string, CampaignProgress>;

beforeEach(async () => {
  asked = new Map();
  moments = new Map();
  const Params = Type.Object({ id: Uuid });
  const route = { method: "GET", path: "/api/emails/campaigns/:id/stream/", answer: "events" } as const;
  const handler = async (ctx: { params: Record<string, unknown> }) => {
    const id = ctx.params.id as string;
    asked.set(id, (asked.get(id) ?? 0) + 1);
    const moment = moments.get(id);
    if (!moment) throw notFound();
    moments.set(id, { ...moment, sent_count: moment.sent_count + 1 });
    return moment;
  };
  gateway = await startGateway({ progress: sample(route, Params, Type.Any(), handler) });
});
afterEach(() => gateway.stop());

function campaign(given: Partial<CampaignProgress> = {}): string {
  const id = newId();
  moments.set(id, { ...SENDING, ...given });
  return id;
}

interface Event {
  name: string;
  data: CampaignProgress;
}

interface Viewer {
  status: number;
  headers: Headers;
  events: Event[];
  /** Resolves when the gateway has closed the stream. */
  closed: Promise<void>;
  isClosed: boolean;
  leave(): void;
}

async function watch(id: string, key = "fm_good"): Promise<Viewer> {
  const leaving = new AbortController();
  const response = await fetch(`${gateway.url}/api/emails/campaigns/${id}/stream/`, {
    headers: { "X-API-Key": key },
    signal: leaving.signal,
  });
  const { status, headers } = response;
  const viewer: Viewer = {
    status,
    headers,
    events: [],
    closed: Promise.resolve(),
    isClosed: false,
    leave: () => leaving.abort(),
  };
  const read = async () => {
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (text + chunk).split("\n\n");
      text = parts.pop()!;
      for (const part of parts) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(part)!;
        viewer.events.push({ name: name!, data: JSON.parse(data!) as CampaignProgress });
      }
    }
  };
  viewer.closed = (status === 200 ? read() : response.arrayBuffer())
    .catch(() => {})
    .then(() => {
      viewer.isClosed = true;
    });
  return viewer;
}

async function until(holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 40_000; Date.now() < deadline; await sleep(50)) if (holds()) return;
  throw new Error("It did not happen in time");
}

test("starts with progress at once, continues about once a second, ends with the campaign, and is never cached", async () => {
  const id = campaign();
  const viewer = await watch(id);
  expect([viewer.status, viewer.headers.get("content-type"), viewer.headers.get("cache-control")]).toEqual([
    200,
    "text/event-stream",
    "no-store",
  ]);
  await until(() => viewer.events.length >= 3);
  expect(viewer.events[0]).toEqual({ name: "progress", data: SENDING });
  expect(viewer.events[2]!.data).toMatchObject({ sent_count: 2, per_second: expect.any(Number) });
  expect(viewer.events[2]!.data.seconds_left).toBeGreaterThan(0);
  moments.set(id, { ...SENDING, status: "completed", sent_count: 100 });
  await viewer.closed;
  const last = { ...SENDING, status: "completed", sent_count: 100, seconds_left: 0 };
  expect(viewer.events.slice(-2)).toEqual([
    { name: "progress", data: last },
    { name: "end", data: last },
  ]);
});

test("a finished campaign sends both events at once; a missing one is a 404", async () => {
  const id = campaign({ status: "partial", sent_count: 3 });
  const viewer = await watch(id);
  await viewer.closed;
  expect([viewer.events.map(({ name }) => name), asked.get(id)]).toEqual([["progress", "end"], 1]);
  const none = await watch(newId());
  await none.closed;
  expect(none.status).toBe(404);
  const wrong = await watch(id, "fm_unknown");
  await wrong.closed;
  expect(wrong.status).toBe(401);
});

test(`${VIEWERS} viewers of a campaign share one read a second, which ends when they leave`, async () => {
  const id = campaign();
  const viewers = await Promise.all(Array.from({ length: VIEWERS }, () => watch(id)));
  const before = asked.get(id)!;
  const seen = viewers.map(({ events }) => events.length);
  await until(() => viewers.every(({ events }, n) => events.length >= seen[n]! + 3));
  // Every read reaches all viewers: none has more events than there were reads.
  const most = Math.max(...viewers.map(({ events }, n) => events.length - seen[n]!));
  expect(asked.get(id)! - before).toBeLessThanOrEqual(most + 1);
  for (const viewer of viewers) viewer.leave();
  await Promise.all(viewers.map(({ closed }) => closed));
  await sleep(500);
  const left = asked.get(id)!;
  await sleep(2_500);
  expect(asked.get(id)! - left).toBeLessThanOrEqual(1);
});

test("a deleted key loses its stream within ten seconds, others continue", async () => {
  const id = campaign();
  const [theirs, ours] = [await watch(id, "fm_third"), await watch(id)];
  await until(() => theirs.events.length >= 2);
  gateway.revoked.add("fm_third");
  await Promise.race([theirs.closed, sleep(40_000, undefined, { ref: false })]);
  expect([theirs.isClosed, theirs.events.some(({ name }) => name === "end")]).toEqual([true, false]);
  const seen = ours.events.length;
  await until(() => ours.events.length > seen);
  expect(ours.isClosed).toBe(false);
  ours.leave();
});

test("deleting a campaign closes its streams", async () => {
  const id = campaign();
  const viewer = await watch(id);
  moments.delete(id);
  await viewer.closed;
  expect(viewer.events.map(({ name }) => name)).not.toContain("end");
});

test("a stopping process closes its streams first instead of waiting for them", async () => {
  const viewers = await Promise.all([watch(campaign()), watch(campaign())]);
  await gateway.drain();
  await Promise.all(viewers.map(({ closed }) => closed));
  expect(viewers.flatMap(({ events }) => events).every(({ name }) => name === "progress")).toBe(true);
});

test("a client that does not read is disconnected after some events", async () => {
  let closed = false;
  const context = { set() {}, body: undefined as unknown } as unknown as Context;
  const stream = new EventStream(context, () => {
    closed = true;
  });
  let sent = 0;
  for (; !(context.body as PassThrough).destroyed && sent < 1_000; sent++) stream.send("progress", SENDING);
  await until(() => closed);
  expect(sent).toBeLessThan(200);
  stream.send("progress", SENDING);
});
