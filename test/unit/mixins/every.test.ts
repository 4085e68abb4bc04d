import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { every } from "../../../mixins/every.mixin.ts";

const REQUEST_TIMEOUT_MS = 20;

/** A worker whose runs take until `open` is set. */
function startWorker() {
  const runs = { begun: 0, atOnce: 0, mostAtOnce: 0, open: false };
  const work = async () => {
    runs.begun++;
    runs.mostAtOnce = Math.max(runs.mostAtOnce, ++runs.atOnce);
    while (!runs.open) await sleep(2);
    runs.atOnce--;
  };
  return { runs, broker: brokerWith(work) };
}

function brokerWith(work: () => Promise<void>, options: object = {}) {
  const broker = new ServiceBroker({
    logger: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    skipProcessEventRegistration: true,
    ...options,
  });
  broker.createService({ name: "worker", mixins: [every(1, "work")], actions: { work } } as ServiceSchema);
  return broker;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(2);
}

test("runs do not overlap, also where one takes longer than the broker's request time-out", async () => {
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
