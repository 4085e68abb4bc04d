import { EndpointQueue } from "../../../services/webhooks/endpoint-queue.ts";

const LIMITS = { inFlight: 12, perCompany: 6, perEndpoint: 2 };
const queueOf = (...endpoints: string[]) => {
  const queue = new EndpointQueue(LIMITS);
  for (const endpointId of endpoints) queue.add({ companyId: endpointId[0]!, endpointId });
  return queue;
};
const slotsOf = (queue: EndpointQueue) =>
  Object.fromEntries(queue.grant().map(({ endpointId, slots }) => [endpointId, slots]));
/** Grants, and starts everything that was granted. */
const begin = (queue: EndpointQueue) =>
  queue.grant().flatMap(({ slots, ...endpoint }) =>
    Array.from({ length: slots }, () => {
      queue.begin(endpoint);
      return endpoint;
    }),
  );

test("a company with many endpoints does not delay others or exceed its limit", () => {
  const noisy = Array.from({ length: 50 }, (_, n) => `a${n}`);
  const slots = slotsOf(queueOf(...noisy, "b", "c"));
  expect([slots.b, slots.c]).toEqual([2, 2]);
  const ofNoisy = Object.entries(slots).filter(([endpoint]) => endpoint.startsWith("a"));
  expect(ofNoisy).toHaveLength(6);
  expect(ofNoisy.every(([, n]) => n === 1)).toBe(true);
});

test("companies without a grant come first in the next round", () => {
  const queue = queueOf(...Array.from({ length: 20 }, (_, n) => String.fromCharCode(97 + n)));
  const first = begin(queue);
  expect(first).toHaveLength(12);
  for (const attempt of first) queue.end(attempt);
  const second = new Set(begin(queue).map(({ endpointId }) => endpointId));
  for (let n = 12; n < 20; n++) expect(second).toContain(String.fromCharCode(97 + n));
});

test("an endpoint does not exceed its limit of attempts in flight", () => {
  const queue = queueOf("a");
  const first = begin(queue);
  expect([first.length, slotsOf(queue)]).toEqual([2, {}]);
  queue.end(first[0]!);
  expect(slotsOf(queue)).toEqual({ a: 1 });
});

test("endpoints without deliveries are removed from memory", () => {
  const queue = queueOf("a", "b");
  const attempts = begin(queue);
  expect([queue.remove("a"), queue.remove("a"), queue.remove("b")]).toEqual([true, false, true]);
  expect([queue.waiting, queue.size]).toEqual([0, 2]);
  for (const attempt of attempts) queue.end(attempt);
  expect(queue.size).toBe(0);
});
