import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { every } from "../../../mixins/every.mixin.ts";

const REQUEST_TIMEOUT_MS = 20;

/** Runs that take until `open` is set. */
function heldWork() {
  const runs = { begun: 0, atOnce: 0, mostAtOnce: 0, open: false };
  const work = async () => {
    runs.begun++;
    runs.mostAtOnce = Math.max(runs.mostAtOnce, ++runs.atOnce);
    while (!runs.open) await sleep(2);
    runs.atOnce--;
  };
  return { runs, work };
}

function startWorker() {
  const { runs, work } = heldWork();
  return { runs, broker: brokerWith(work) };
}

function brokerWith(work: () => Promise<void>, options: object = {}, repetition = every(1, "work")) {
  const broker = new ServiceBroker({
    logger: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    skipProcessEventRegistration: true,
    ...options,
  });
  broker.createService({ name: "worker", mixins: [repetition], actions: { work } } as ServiceSchema);
  return broker;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(2);
}

test("runs do not overlap, even if one takes longer than the broker's request time-out", async () => {
  const { runs, broker } = startWorker();
  await broker.start();
  await until(() => runs.begun === 1);
  await sleep(5 * REQUEST_TIMEOUT_MS);
  expect(runs.begun).toBe(1);
  runs.open = true;
  await until(() => runs.begun > 2);
  await broker.stop();
  expect(runs.mostAtOnce).toBe(1);
});

test("a stop waits for the run that is under way, and no other follows", async () => {
  const { runs, broker } = startWorker();
  await broker.start();
  await until(() => runs.begun === 1);
  let stopped = false;
  const stopping = broker.stop().then(() => {
    stopped = true;
  });
  await until(() => broker.stopping);
  await sleep(20);
  expect(stopped).toBe(false);
  runs.open = true;
  await stopping;
  await sleep(20);
  expect(runs).toMatchObject({ begun: 1, atOnce: 0 });
});

test("intervals of a minute or more start at different times in each process, within the second half of the pause", async () => {
  const timers = jest.spyOn(globalThis, "setTimeout");
  const brokers = Array.from({ length: 20 }, () => brokerWith(async () => {}, {}, every(100_000, "work")));
  await Promise.all(brokers.map((broker) => broker.start()));
  const waitsMs = timers.mock.calls.map(([, ms]) => ms!).filter((ms) => ms > 40_000);
  timers.mockRestore();
  await Promise.all(brokers.map((broker) => broker.stop()));
  expect(waitsMs).toHaveLength(20);
  expect(Math.min(...waitsMs)).toBeGreaterThanOrEqual(50_000);
  expect(Math.max(...waitsMs)).toBeLessThanOrEqual(100_000);
  expect(new Set(waitsMs).size).toBeGreaterThan(10);
});

test("a run that fails is followed by the next", async () => {
  let begun = 0;
  const broker = brokerWith(async () => {
    if (++begun === 1) throw new Error("the first one fails");
  });
  await broker.start();
  await until(() => begun > 1);
  await broker.stop();
});

test("the action is its own node's: it can be called there, and not from another", async () => {
  let begun = 0;
  const joined = { transporter: "Fake" as const, namespace: `every-${process.pid}` };
  const broker = brokerWith(async () => void begun++, { nodeID: "worker", ...joined });
  const other = new ServiceBroker({ nodeID: "other", logger: false, skipProcessEventRegistration: true, ...joined });
  await Promise.all([broker.start(), other.start()]);
  await other.waitForServices("worker");
  await broker.call("worker.work");
  expect(begun).toBeGreaterThan(0);
  await expect(other.call("worker.work")).rejects.toMatchObject({ name: "ServiceNotFoundError" });
  await Promise.all([broker.stop(), other.stop()]);
});

test.each([
  [null, 0],
  [1, 1],
])("a warning about a long run is logged after %s ms, with null never", async (warnAfterMs, warnings) => {
  const { runs, work } = heldWork();
  const broker = brokerWith(work, {}, every(1, "work", { warnAfterMs }));
  const warn = jest.spyOn(broker.getLocalService("worker").logger, "warn").mockImplementation();
  await broker.start();
  await until(() => runs.begun === 1);
  await sleep(50);
  expect(warn).toHaveBeenCalledTimes(warnings);
  runs.open = true;
  await broker.stop();
});

test("the pause grows while there is nothing to do, and is short again as soon as there was something", async () => {
  const pausesMs: number[] = [];
  const timers = jest.spyOn(globalThis, "setTimeout");
  const results = [{ done: 1 }, { done: 0, idle: true }, null, { done: 0 }, { done: 0 }, { done: 2 }, { done: 0 }];
  let begun = 0;
  const broker = brokerWith(
    (async () => {
      // The timers of the broker's own are longer, or shorter.
      const waited = timers.mock.calls.map(([, ms]) => ms).filter((ms) => ms !== undefined && ms >= 7 && ms <= 28);
      pausesMs.push(waited.at(-1)!);
      return results[begun++];
    }) as never,
    {},
    every(7, "work", { idlePauseMs: 28 }),
  );
  await broker.start();
  await until(() => begun > results.length);
  await broker.stop();
  timers.mockRestore();
  expect(pausesMs.slice(0, 8)).toEqual([7, 7, 14, 28, 28, 28, 7, 14]);
});
