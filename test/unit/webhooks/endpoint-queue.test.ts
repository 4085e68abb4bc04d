import { EndpointQueue, QUICK_MS } from "../../../services/webhooks/endpoint-queue.ts";

const LIMITS = { inFlight: 12, perCompany: 6, firstLanes: 2, lanes: 4, hanging: 3 };
const queueOf = (...endpoints: string[]) => {
  const queue = new EndpointQueue(LIMITS);
  for (const endpointId of endpoints) queue.add({ companyId: endpointId[0]!, endpointId });
  return queue;
};
const lanesOf = (queue: EndpointQueue, nowMs = 0) =>
  Object.fromEntries(queue.grant(nowMs).map(({ endpointId, lanes }) => [endpointId, lanes]));
/** Grants, and begins all that was granted. */
const begin = (queue: EndpointQueue, nowMs = 0) =>
  queue
    .grant(nowMs)
    .flatMap(({ companyId, endpointId, lanes }) =>
      Array.from({ length: lanes }, () => queue.begin(endpointId, companyId, nowMs)),
    );

test("a company with many endpoints leaves the others their turns, and never has more than its share", () => {
  const noisy = Array.from({ length: 50 }, (_, n) => `a${n}`);
  const lanes = lanesOf(queueOf(...noisy, "b", "c"));
  expect([lanes.b, lanes.c]).toEqual([2, 2]);
  const ofNoisy = Object.entries(lanes).filter(([endpoint]) => endpoint.startsWith("a"));
  expect(ofNoisy).toHaveLength(6);
  expect(ofNoisy.every(([, n]) => n === 1)).toBe(true);
});

test("who had no turn is first in the next", () => {
  const queue = queueOf(...Array.from({ length: 20 }, (_, n) => String.fromCharCode(97 + n)));
  const first = begin(queue);
  expect(first).toHaveLength(12);
  for (const attempt of first) queue.end(attempt, true, 1);
  const second = new Set(begin(queue, 1).map(({ endpointId }) => endpointId));
  for (let n = 12; n < 20; n++) expect(second).toContain(String.fromCharCode(97 + n));
});

test("an endpoint that answers at once gets more lanes, one that does not has a single one", () => {
  const queue = queueOf("a");
  for (let round = 0; round < 4; round++) for (const attempt of begin(queue)) queue.end(attempt, true, 1);
  expect(lanesOf(queue)).toEqual({ a: 4 });
  for (const attempt of begin(queue)) queue.end(attempt, true, QUICK_MS);
  expect(lanesOf(queue)).toEqual({ a: 1 });
});

test("what hangs gives its place to others, up to a bound, and takes it back from nobody when it ends", () => {
  const queue = queueOf("a", "b", "c", "d", "e", "f");
  const hanging = begin(queue);
  expect([hanging.length, queue.isFull]).toEqual([12, true]);
  queue.add({ companyId: "g", endpointId: "g1" });
  queue.add({ companyId: "g", endpointId: "g2" });
  expect(lanesOf(queue, QUICK_MS - 1)).toEqual({});
  // Three may hang beside the twelve.
  const more = begin(queue, QUICK_MS);
  expect(more.map(({ companyId }) => companyId)).toEqual(["g", "g", "g"]);
  expect([queue.isFull, lanesOf(queue, 3 * QUICK_MS)]).toEqual([true, {}]);
  for (const attempt of [...hanging, ...more]) queue.end(attempt, false, 4 * QUICK_MS);
  expect(lanesOf(queue, 4 * QUICK_MS)).toEqual({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g1: 1, g2: 1 });
});

test("nothing is remembered of endpoints that have nothing", () => {
  const queue = queueOf("a", "b");
  const attempts = begin(queue);
  expect([queue.remove("a"), queue.remove("a"), queue.remove("b")]).toEqual([true, false, true]);
  expect([queue.waiting, queue.size]).toEqual([0, 2]);
  for (const attempt of attempts) queue.end(attempt, true, 1);
  expect(queue.size).toBe(0);
});
