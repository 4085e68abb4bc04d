import { atMost } from "../../../services/campaigns/expansion/expansion-queue.ts";

test("runs at most n tasks at a time, in the order they came, also after one has failed", async () => {
  const run = atMost(2);
  const flow: string[] = [];
  let open = 0;
  let most = 0;
  const work = (name: string) => async () => {
    flow.push(name);
    most = Math.max(most, ++open);
    await new Promise((done) => setImmediate(done));
    open -= 1;
    if (name === "b") throw new Error(name);
    return name;
  };
  const outcomes = await Promise.allSettled(["a", "b", "c", "d", "e"].map((name) => run(work(name))));
  expect(flow).toEqual(["a", "b", "c", "d", "e"]);
  expect(most).toBe(2);
  expect(outcomes.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
    "fulfilled",
  ]);
});
