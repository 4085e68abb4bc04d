/** Worker threads: limited in time, memory and number, shared fairly, and ended when idle. */
import { setTimeout as sleep } from "node:timers/promises";
import { TaskLimitExceeded, type WorkerSettings, Workers } from "../../../services/lib/workers/workers.ts";

const FILE = new URL("../../support/heavy-work.ts", import.meta.url).href;

const started: Workers[] = [];
function workersWith(settings: Partial<WorkerSettings> = {}) {
  const workers = new Workers({ threads: 1, ...settings });
  started.push(workers);
  const run = <R>(company: string, name: string, input?: unknown) =>
    workers.run<R>(company, { file: FILE, name, input, characters: 20_000 });
  return { workers, run };
}
afterEach(() => Promise.all(started.splice(0).map((workers) => workers.close())));

test("a task in an endless loop is ended, and its company's next task gets a thread", async () => {
  const { run } = workersWith({ maxSeconds: 0.5 });
  await expect(run("a", "compute", 3_600)).rejects.toThrow(TaskLimitExceeded);
  expect(await run("a", "echo", { text: "é" })).toEqual({ text: "é" });
});

test("a task that takes all memory is ended without affecting the process", async () => {
  const { run } = workersWith({ maxMegabytes: 40 });
  await expect(run("a", "hoard")).rejects.toThrow(new TaskLimitExceeded("it takes more than 40 MB of memory"));
  expect(await run("a", "echo", 1)).toBe(1);
});

test("an error of the work arrives unchanged", async () => {
  const { run } = workersWith();
  await expect(run("a", "fail")).rejects.toMatchObject({ name: "RangeError", message: "A defect" });
});

test("a company with much work has one thread at a time, and others do not wait behind it", async () => {
  const { run } = workersWith({ threads: 2 });
  const ended: string[] = [];
  const task = (company: string, seconds: number) => run(company, "compute", seconds).then(() => ended.push(company));
  const many = Array.from({ length: 6 }, () => task("greedy", 0.2));
  await Promise.all([task("other", 0.01), task("third", 0.01)]);
  expect(ended.filter((company) => company === "greedy").length).toBeLessThan(6);
  await Promise.all(many);
});

test("companies alternate on a single thread", async () => {
  const { run } = workersWith();
  const order: string[] = [];
  const task = (company: string) => run(company, "echo").then(() => order.push(company));
  await Promise.all([task("a"), task("a"), task("a"), task("b"), task("b"), task("c")]);
  expect(order).toEqual(["a", "a", "b", "c", "a", "b"]);
});

test("the queue is bounded per company and in total: beyond that the answer is 429", async () => {
  const { run } = workersWith({ waitingCharactersPerCompany: 40_000, waitingCharacters: 60_000 });
  const accepted = [run("a", "compute", 0.3), run("a", "echo"), run("a", "echo")];
  await expect(run("a", "echo")).rejects.toMatchObject({ code: "THROTTLED", data: { retryAfterSeconds: 2 } });
  accepted.push(run("b", "echo"));
  await expect(run("c", "echo")).rejects.toMatchObject({ code: "THROTTLED" });
  await Promise.all(accepted);
  expect(await run("c", "echo", 3)).toBe(3);
});

test("threads begin with the first task and end when there is none", async () => {
  const { workers, run } = workersWith({ idleMs: 20 });
  expect(workers.threads).toBe(0);
  await run("a", "echo");
  expect(workers.threads).toBe(1);
  for (let n = 0; workers.threads > 0 && n < 500; n++) await sleep(20);
  expect(workers.threads).toBe(0);
  expect(await run("a", "echo", 2)).toBe(2);
});

test("a thread sees no environment variables", async () => {
  const { run } = workersWith();
  expect(await run("a", "surroundings")).toEqual({});
});
