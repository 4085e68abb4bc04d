import type { LeasedChunk, RecordedResult } from "../../../services/smtp-sender/delivery/recorded-result.ts";
import { Recorder } from "../../../services/smtp-sender/delivery/recorder.ts";
import type { PinnedConnection } from "../../../services/smtp-sender/engine/pinned-connection.ts";

const chunk = (): LeasedChunk => ({
  campaign_id: "c",
  campaignId: "c",
  companyId: "o",
  no: 1,
  lo: 1,
  hi: 100,
  fence: 1,
  markedTo: 0,
  validFrom: 0,
});

const sent = (leased: LeasedChunk, seq: number, by = { recorded: () => {} }): RecordedResult => ({
  companyId: "o",
  campaignId: "c",
  mail: { campaignNo: -1, id: `mail ${seq}`, email: `${seq}@example.com`, messageId: `mail ${seq}` },
  chunk: leased,
  seq,
  attempts: 0,
  copyNo: null,
  outcome: { status: "sent", error: null, reply: null },
  delayMs: null,
  copies: [],
  by,
});

const ANSWER = { leases: [["c", 1]], stopped: null, webhook_company_ids: null };

/**
 * Parses the statement, all forms of which begin with the leases; results have their seqs in one column, an array
 * literal.
 */
const seqsOf = (name: string, values: unknown[]): number[] =>
  name === "record-leases" ? [] : JSON.parse((values[12] as string).replace("{", "[").replace("}", "]"));

const recorderOver = (
  run: (name: string, text: string, values: unknown[]) => Promise<unknown>,
  callbacks: Partial<ConstructorParameters<typeof Recorder>[0]> = {},
) =>
  new Recorder({
    connection: { run } as unknown as PinnedConnection,
    owner: "me",
    leaseMs: 1_000,
    groupSize: 1,
    log: { error: () => {} },
    onFlushed: () => {},
    onOutage: () => {},
    ...callbacks,
  });

test("a mark moved back during a retried flush is not written before the results added meanwhile", async () => {
  const written: { mark: number; seqs: number[] }[] = [];
  let away = true;
  const recorder = recorderOver(async (name, _text, values) => {
    if (away) throw new Error("The database is away");
    written.push({ mark: (values[6] as number[])[0]!, seqs: seqsOf(name, values) });
    return [ANSWER];
  });
  const leased = chunk();
  const marked = recorder.mark(leased, 10);
  // This flush is being written, and will fail.
  await new Promise((done) => setTimeout(done, 20));
  recorder.add(sent(leased, 7));
  // Only 7 had been handed over: the others are requeued.
  const back = recorder.mark(leased, 3);
  away = false;
  await Promise.all([marked, back, recorder.drain()]);
  expect(written[0]!.seqs).toEqual([]);
  // Killed now, recipient 7 must be in doubt and not in the queue.
  expect(written[0]!.mark).toBeGreaterThanOrEqual(7);
  expect(written.at(-1)).toEqual({ mark: 3, seqs: [7] });
});

test("a mark moved forward during a retried flush is written with the earlier results, not sooner", async () => {
  const written: { mark: number; seqs: number[] }[] = [];
  let away = true;
  const recorder = recorderOver(async (name, _text, values) => {
    if (away) throw new Error("The database is away");
    written.push({ mark: (values[6] as number[])[0]!, seqs: seqsOf(name, values) });
    return [ANSWER];
  });
  const leased = chunk();
  const first = recorder.mark(leased, 10);
  await new Promise((done) => setTimeout(done, 20));
  for (const seq of [1, 2, 3]) recorder.add(sent(leased, seq));
  expect(recorder.promised).toBe(3);
  // 11 to 13 use their budget.
  const second = recorder.mark(leased, 13);
  away = false;
  expect(await Promise.all([first, second])).toEqual([true, true]);
  await recorder.drain();
  expect(written).toEqual([
    { mark: 10, seqs: [] },
    { mark: 13, seqs: [1, 2, 3] },
  ]);
  expect(recorder.promised).toBe(0);
});

test("a mark that moves forward waits for the last part of a flush that is written in parts", async () => {
  const written: { mark: number; seqs: number[] }[] = [];
  const recorder = recorderOver(async (name, _text, values) => {
    const seqs = seqsOf(name, values);
    if (seqs.length > 2) throw Object.assign(new Error("refused"), { code: "23514" });
    written.push({ mark: (values[6] as number[])[0]!, seqs });
    return [ANSWER];
  });
  const leased = chunk();
  await recorder.mark(leased, 4);
  for (const seq of [1, 2, 3, 4]) recorder.add(sent(leased, seq));
  expect(await recorder.mark(leased, 8)).toBe(true);
  expect(written).toEqual([
    { mark: 4, seqs: [] },
    { mark: 4, seqs: [1, 2] },
    { mark: 4, seqs: [3, 4] },
    { mark: 8, seqs: [] },
  ]);
});

test("an error in a callback is reported, and written results are not written again", async () => {
  const errors: string[] = [];
  const notified: string[] = [];
  let written = 0;
  const recorder = recorderOver(
    async () => {
      written++;
      return [ANSWER];
    },
    {
      onFlushed: () => void notified.push("flushed"),
      log: { error: (_text, data) => void errors.push((data as { error: string }).error.split("\n")[0]!) },
    },
  );
  const broken = {
    recorded: () => {
      throw new Error("A callback broke");
    },
  };
  const leased = chunk();
  recorder.add(sent(leased, 1, broken));
  recorder.add(sent(leased, 2, { recorded: () => void notified.push("recorded") }));
  await recorder.drain();
  expect(written).toBe(1);
  expect(errors).toEqual(["Error: A callback broke"]);
  expect(notified).toEqual(["recorded", "flushed"]);
});

test("a refused flush is split in halves until the result is isolated; a mark is never written before its results", async () => {
  const written: { mark: number; seqs: number[]; done: boolean }[] = [];
  const refused: number[] = [];
  const recorder = recorderOver(
    async (name, _text, values) => {
      const seqs = seqsOf(name, values);
      if (seqs.includes(5)) throw Object.assign(new Error("refused"), { code: "23514" });
      written.push({ mark: (values[6] as number[])[0]!, seqs, done: (values[7] as boolean[])[0]! });
      return [ANSWER];
    },
    {
      onFlushed: (report) => {
        for (const { result, stateStored } of report.refused) refused.push(stateStored ? 0 : result.seq);
      },
    },
  );
  const leased = chunk();
  for (let seq = 1; seq <= 8; seq++) recorder.add(sent(leased, seq));
  await recorder.close(leased);
  await recorder.drain();
  expect(written.flatMap(({ seqs }) => seqs).sort()).toEqual([1, 2, 3, 4, 6, 7, 8]);
  expect(refused).toEqual([5]);
  // The mark stays behind results that are not stored, also those that another part has yet to store.
  expect(written[0]).toEqual({ mark: 8, seqs: [1, 2, 3, 4], done: false });
  expect(written.at(-1)).toMatchObject({ mark: 5, seqs: [] });
});

describe("gathering results", () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] }));
  afterEach(() => jest.useRealTimers());

  const gathering = (groupSize: number) => {
    const sizes: number[] = [];
    const recorder = recorderOver(
      async (name, _text, values) => {
        sizes.push(seqsOf(name, values).length);
        return [ANSWER];
      },
      { groupSize },
    );
    return { recorder, sizes };
  };

  /** Results of `leased`, one each millisecond. */
  async function addEachMs(recorder: Recorder, leased: LeasedChunk, n: number): Promise<void> {
    for (let seq = 1; seq <= n; seq++) {
      recorder.add(sent(leased, seq));
      await jest.advanceTimersByTimeAsync(1);
    }
  }

  test("waits while more keep arriving, and not for longer than 20 ms", async () => {
    const { recorder, sizes } = gathering(100);
    await addEachMs(recorder, chunk(), 25);
    expect(sizes).toEqual([20]);
    await jest.advanceTimersByTimeAsync(20);
    expect(sizes).toEqual([20, 5]);
  });

  test("writes a single result after 5 ms", async () => {
    const { recorder, sizes } = gathering(100);
    recorder.add(sent(chunk(), 1));
    await jest.advanceTimersByTimeAsync(6);
    expect(sizes).toEqual([1]);
  });

  test("writes a full group at once, and so results that an urgent mark waits for", async () => {
    const { recorder, sizes } = gathering(4);
    const leased = chunk();
    for (let seq = 1; seq <= 4; seq++) recorder.add(sent(leased, seq));
    await jest.advanceTimersByTimeAsync(0);
    expect(sizes).toEqual([4]);
    recorder.add(sent(leased, 5));
    const marked = recorder.mark(leased, 10);
    await jest.advanceTimersByTimeAsync(0);
    expect(await marked).toBe(true);
    expect(sizes).toEqual([4, 1]);
  });

  test("waits 5 ms for a mark that is not urgent, and once more while results are few and more arrive", async () => {
    const { recorder, sizes } = gathering(100);
    const leased = chunk();
    const marked = recorder.mark(leased, 10, false);
    await addEachMs(recorder, leased, 12);
    expect(await marked).toBe(true);
    expect(sizes).toEqual([10]);
    await recorder.drain();
  });

  test("waits 5 ms with a mark that is not urgent for half a group, or if nothing is added", async () => {
    const { recorder, sizes } = gathering(10);
    const leased = chunk();
    const marked = [recorder.mark(leased, 10, false)];
    await addEachMs(recorder, leased, 8);
    expect(sizes).toEqual([5]);
    await jest.advanceTimersByTimeAsync(20);
    marked.push(recorder.mark(leased, 20, false));
    await jest.advanceTimersByTimeAsync(6);
    expect(await Promise.all(marked)).toEqual([true, true]);
    expect(sizes).toEqual([5, 3, 0]);
  });

  test("writes the end of a chunk with the next group", async () => {
    const { recorder, sizes } = gathering(100);
    const leased = chunk();
    const closed = recorder.close(leased);
    await addEachMs(recorder, chunk(), 12);
    expect(await closed).toBe(true);
    expect(sizes).toEqual([10]);
    await recorder.drain();
  });
});
