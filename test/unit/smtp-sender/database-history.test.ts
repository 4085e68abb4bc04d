import type { DatabaseState } from "../../../models/database/history.ts";
import { DatabaseHistory } from "../../../services/smtp-sender/engine/database-history.ts";

const moment = (timeline: string, database = "5.6", workedOn = `7/${database}`): DatabaseState => ({
  at: "now",
  database,
  workedOn,
  history: { system: "7", timeline },
});
const log = { error: () => {}, warn: () => {}, info: () => {} };

/** Records actions in order; the other senders settle when the test says so. */
function follower(others: () => (string | undefined)[] = () => []) {
  const steps: string[] = [];
  let batches = 0;
  const history = new DatabaseHistory({
    log,
    peers: { nodes: () => [], giveUp: async () => undefined, histories: async () => others() },
    endBatches: () => {
      steps.push("batches end");
      batches = 2;
    },
    hasBatches: () => batches-- > 0,
    writeAgain: async () => steps.push("written again"),
    recognise: async ({ database }, wasRunning) =>
      void steps.push(`${database} recognised by a ${wasRunning ? "running" : "new"} sender`),
    known: () => void steps.push("claims go on"),
    stopping: () => false,
  });
  return { history, steps };
}

test("the first history is accepted, and the same one again changes nothing", async () => {
  const { history, steps } = follower();
  expect(history.timeline).toBeUndefined();
  expect(await history.follow(moment("1"))).toBe(false);
  expect([history.timeline, history.settled, steps]).toEqual([
    "1/5.6",
    "7/5.6/1",
    ["5.6 recognised by a new sender", "claims go on"],
  ]);
  expect(await history.follow(moment("1"))).toBe(false);
  expect(steps).toHaveLength(2);
});

test("after another history nothing is claimed until batches have ended, results are written again and the others follow", async () => {
  let others: (string | undefined)[] = [];
  const { history, steps } = follower(() => others);
  await history.follow(moment("1"));
  others = ["7/5.6/1", undefined];
  const following = history.follow(moment("2"));
  expect(history.timeline).toBeUndefined();
  while (history.settled !== "7/5.6/2") await new Promise((done) => setTimeout(done, 10));
  expect(steps.slice(2)).toEqual(["batches end", "written again"]);
  expect(history.timeline).toBeUndefined();
  others = ["7/5.6/2", "7/5.6/2"];
  expect(await following).toBe(true);
  expect([history.timeline, steps.at(-1)]).toEqual(["2/5.6", "claims go on"]);
});

test("another database on the same server, and one marked as restored, are recognised before a claim", async () => {
  const { history, steps } = follower();
  const recognised = ["batches end", "written again", "5.7 recognised by a running sender", "claims go on"];
  await history.follow(moment("1"));
  expect(await history.follow(moment("1", "5.7"))).toBe(true);
  expect([history.timeline, history.settled]).toEqual(["1/5.7", "7/5.7/1"]);
  expect(steps.slice(2)).toEqual(recognised);
  expect(await history.follow(moment("1", "5.7", "restored"))).toBe(true);
  expect(steps.slice(6)).toEqual(recognised);
  expect(await history.follow(moment("1", "5.7"))).toBe(false);
});

test("results that cannot be written again are tried again at the next check, and nothing is claimed meanwhile", async () => {
  let fails = true;
  const broken = new DatabaseHistory({
    log,
    peers: undefined,
    endBatches: () => {},
    hasBatches: () => false,
    writeAgain: async () => {
      if (fails) throw new Error("The database is away");
      return 1;
    },
    recognise: async () => {},
    known: () => {},
    stopping: () => false,
  });
  await broken.follow(moment("1"));
  await expect(broken.follow(moment("2"))).rejects.toThrow("away");
  expect([broken.timeline, broken.settled]).toEqual([undefined, "7/5.6/1"]);
  fails = false;
  expect(await broken.follow(moment("2"))).toBe(true);
  expect(broken.timeline).toBe("2/5.6");
});
