import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PerformanceObserver } from "node:perf_hooks";
import type { ClaimedDelivery } from "../../../models/statements/webhook-deliveries.ts";
import { newId } from "../../../services/lib/ids.ts";
import { seal } from "../../../services/lib/secrets.ts";
import { attempt } from "../../../services/webhooks/attempt.ts";
import { EventPoster } from "../../../services/webhooks/post.ts";
import { newSecret, signedHeaders, signingKey } from "../../../services/webhooks/signature.ts";

const PAYLOAD = '{"type":"opened"}';
const endpoint_id = newId();
let server: Server;
let got: IncomingMessage[] = [];

Object.assign(process.env, { ALLOW_PRIVATE_NETWORKS: "true", SECRET_KEY: "a-secret-of-this-test-and-no-other" });

beforeAll(async () => {
  server = createServer((request, response) => {
    got.push(request);
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((listening) => server.listen(0, listening));
});
beforeEach(() => {
  got = [];
});
afterAll(() => {
  void poster.stop();
  server.closeAllConnections();
  server.close();
});

const claimed = (given: Partial<ClaimedDelivery>): ClaimedDelivery => ({
  id: newId(),
  company_id: newId(),
  endpoint_id,
  event_id: newId(),
  event_type: "opened",
  attempts: 0,
  payload: PAYLOAD,
  lease: "",
  url: `http://localhost:${(server.address() as AddressInfo).port}/`,
  secret_sealed: seal(newSecret(), endpoint_id),
  old_secret_sealed: null,
  ...given,
});
const poster = new EventPoster();

test("a host is resolved once per connection, not once per event", async () => {
  let lookups = 0;
  const observer = new PerformanceObserver((list) => {
    lookups += list.getEntries().length;
  });
  observer.observe({ entryTypes: ["dns"] });
  const all = [];
  for (let n = 0; n < 10; n++) {
    all.push(await attempt(claimed({}), poster));
    // undici reuses a connection from the next iteration of the event loop on.
    await new Promise(setImmediate);
  }
  await new Promise(setImmediate);
  lookups += observer.takeRecords().length;
  observer.disconnect();
  expect(all).toEqual(Array(10).fill({ ok: true, responseStatus: 200, error: null }));
  expect(lookups).toBe(1);
});

test("deliveries are signed with the endpoint's current secret and never with another endpoint's", async () => {
  const [first, second] = [newSecret(), newSecret()];
  for (const secret of [first, first, second]) {
    await attempt(claimed({ event_id: "e", secret_sealed: seal(secret, endpoint_id) }), poster);
    const { headers } = got.at(-1)!;
    const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
    expect(headers).toMatchObject(signedHeaders([signingKey(secret)], "e", PAYLOAD, at));
  }
  const envelope = seal(first, endpoint_id);
  expect(await attempt(claimed({ secret_sealed: envelope }), poster)).toMatchObject({ ok: true });
  const stolen = await attempt(claimed({ secret_sealed: envelope, endpoint_id: newId() }), poster);
  expect(stolen).toMatchObject({ ok: false, responseStatus: null });
  expect(got).toHaveLength(4);
});

test("the next delivery uses an endpoint's changed URL and secrets", async () => {
  const { url, ...row } = claimed({});
  const old_secret_sealed = seal(newSecret(), endpoint_id);
  const changes = [
    { url: `${url}a?b=c` },
    { url: `${url}d` },
    { url, old_secret_sealed },
    { url, old_secret_sealed: null },
  ];
  for (const change of changes) await attempt({ ...row, ...change }, poster);
  expect(got.map((request) => request.url)).toEqual(["/a?b=c", "/d", "/", "/"]);
  const signatures = got.map(({ headers }) => String(headers["webhook-signature"]).split(" ").length);
  expect(signatures).toEqual([1, 1, 2, 1]);
});
