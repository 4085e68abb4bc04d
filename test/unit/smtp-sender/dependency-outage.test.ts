import { DependencyOutage, type Log } from "../../../services/smtp-sender/engine/dependency-outage.ts";

const FAILURES = 30;

function outage() {
  const lines: string[] = [];
  const add = (level: string) => (text: string) => void lines.push(`${level} ${text}`);
  const log: Log = { error: add("error"), warn: add("warn"), info: add("info") };
  return { outage: new DependencyOutage(log), lines };
}

test("essential work is repeated until it succeeds", async () => {
  const { outage: away } = outage();
  let tries = 0;
  await away.retryUntilDone(
    "the work",
    async () => {
      if (++tries <= FAILURES) throw new Error("The database is away");
    },
    1,
  );
  expect(tries).toBe(FAILURES + 1);
});

test("essential work is tried once more, given up, and logged when the process stops", async () => {
  const { outage: away, lines } = outage();
  const never = away.retryUntilDone("the work", () => Promise.reject(new Error("away")), 60_000);
  await new Promise(setImmediate);
  away.stopRetrying();
  await never;
  expect(lines).toEqual(["warn sending waits: away", "error unfinished when the sender stopped: the work"]);
});

test("an outage expires by the monotonic clock, whatever the wall clock does", () => {
  const { outage: away } = outage();
  away.report(new Error("Redis is away"));
  const clock = jest.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_000);
  expect(away.current).toBe("Redis is away");
  clock.mockRestore();
});
