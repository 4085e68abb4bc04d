import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Type, Uuid } from "../../services/lib/shapes.ts";
import { sample, startGateway, type TestGateway } from "../support/gateway.ts";

const MIB = 1024 ** 2;
const Any = Type.Object({ items: Type.Optional(Type.Unknown()) });
const Named = Type.Object({ company: Type.Optional(Uuid), items: Type.Optional(Type.Unknown()) });
const anyone = { access: "public" } as const;

/** 16 MiB of the most expensive JSON: parsed, it takes 22 times as much heap. */
const MANY_OBJECTS = Buffer.from(`{"items":[${"{},".repeat(5_500_000)}{}]}`);
/** A valid structure of 16 MiB. */
const LARGE_TEXT = Buffer.from(JSON.stringify({ items: "x".repeat(16 * MIB - 100) }));

let gateway: TestGateway;
let holding = Promise.withResolvers<void>();
let heldCalls = 0;
beforeAll(async () => {
  gateway = await startGateway({
    unsubscribe: sample(
      { method: "POST", path: "/api/emails/public/unsubscribe/", ...anyone, anyBody: true },
      Any,
      Type.Unknown(),
      ({ params }) => ({ fields: Object.keys(params) }),
    ),
    subscribe: sample(
      { method: "POST", path: "/api/emails/public/subscribe/", ...anyone },
      Any,
      Type.Unknown(),
      () => ({}),
    ),
    login: sample({ method: "POST", path: "/api/auth/login/", ...anyone }, Any, Type.Unknown(), () => ({})),
    named: sample(
      { method: "POST", path: "/api/emails/send/named/", body: "large" },
      Named,
      Type.Unknown(),
      ({ params, meta }) => ({ company: meta.companyId, fields: Object.keys(params) }),
    ),
    create: sample({ method: "POST", path: "/api/emails/things/" }, Any, Type.Unknown(), () => ({})),
    send: sample({ method: "POST", path: "/api/emails/send/things/", body: "large" }, Any, Type.Unknown(), async () => {
      heldCalls++;
      await holding.promise;
      return {};
    }),
  });
});
afterAll(() => gateway?.stop());

const post = (path: string, body: Uint8Array<ArrayBuffer> | string, key?: string) =>
  fetch(gateway.url + path, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json", ...(key ? { "X-API-Key": key } : {}) },
  });

/** Peak heap during `work` minus the heap before. */
async function heapGrowthOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  const look = () => {
    most = Math.max(most, process.memoryUsage().heapUsed - before);
  };
  const timer = setInterval(look, 5);
  await work().finally(() => clearInterval(timer));
  look();
  return most;
}

test.each([
  ["/api/emails/public/unsubscribe/", 200, undefined],
  ["/api/emails/public/subscribe/", 413, undefined],
  ["/api/auth/login/", 413, undefined],
  ["/api/emails/things/", 413, "fm_good"],
  ["/api/emails/send/things/", 413, "fm_good"],
])("four concurrent bodies of 16 MiB of empty objects cost almost nothing: %s", async (path, status, key) => {
  const statuses: number[] = [];
  const growth = await heapGrowthOf(async () => {
    const responses = await Promise.all([1, 2, 3, 4].map(() => post(path, MANY_OBJECTS, key)));
    statuses.push(...responses.map((response) => response.status));
    await Promise.all(responses.map((response) => response.arrayBuffer()));
  });
  // The send's limit equals the body's size: the fourth such body of a company may exceed the memory budget.
  expect(statuses.filter((each) => each !== status && each !== 429)).toEqual([]);
  expect(statuses).toContain(status);
  expect(growth).toBeLessThan(60 * MIB);
});

test("a one-click request with megabytes still unsubscribes", async () => {
  const response = await post("/api/emails/public/unsubscribe/", LARGE_TEXT);
  expect([response.status, await response.json()]).toEqual([200, { fields: [] }]);
});

test("a company's second large send waits, another company's passes, and small requests always do", async () => {
  holding = Promise.withResolvers();
  heldCalls = 0;
  const first = post("/api/emails/send/things/", LARGE_TEXT, "fm_good");
  const other = post("/api/emails/send/things/", LARGE_TEXT, "fm_other");
  while (heldCalls < 2) await sleep(5);
  const second = await post("/api/emails/send/things/", LARGE_TEXT, "fm_good");
  expect([second.status, second.headers.get("retry-after")]).toEqual([429, "2"]);
  const third = await post("/api/emails/send/things/", LARGE_TEXT, "fm_third");
  expect([third.status, Number(third.headers.get("retry-after"))]).toEqual([503, expect.any(Number)]);
  const small = await Promise.all(
    Array.from({ length: 50 }, () =>
      post("/api/emails/things/", JSON.stringify({ items: "x".repeat(60_000) }), "fm_good"),
    ),
  );
  expect(new Set(small.map(({ status }) => status))).toEqual(new Set([200]));
  holding.resolve();
  expect([(await first).status, (await other).status]).toEqual([200, 200]);
  expect((await post("/api/emails/send/things/", LARGE_TEXT, "fm_good")).status).toBe(200);
});

test("announced bodies that do not arrive reserve nothing", async () => {
  const headers = { "Content-Type": "application/json", "X-API-Key": "fm_good", "Content-Length": LARGE_TEXT.length };
  const hanging = Array.from({ length: 10 }, () => {
    const sent = request(`${gateway.url}/api/emails/send/things/`, { method: "POST", headers }).on("error", () => {});
    sent.write(LARGE_TEXT.subarray(0, 10));
    return sent;
  });
  expect((await post("/api/emails/send/things/", LARGE_TEXT, "fm_good")).status).toBe(200);
  for (const sent of hanging) sent.destroy();
});
