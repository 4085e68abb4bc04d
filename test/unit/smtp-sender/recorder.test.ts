import type { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import { type LeasedChunk, type RecordedResult, Recorder } from "../../../services/smtp-sender/delivery/recorder.ts";

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

test("a mark that goes back while a flush is tried again is not written before the results that came meanwhile", async () => {
  const written: { mark: number; seqs: number[] }[] = [];
  let away = true;
  const run = async (_name: string, _text: string, values: unknown[]) => {
    if (away) throw new Error("The database is away");
    written.push({ mark: (values[6] as number[])[0]!, seqs: values[12] as number[] });
    return [{ lanes: [["c", 1]], stopped: null, told: null }];
  };
  const recorder = new Recorder({
    line: { run } as unknown as PinnedConnection,
    owner: "me",
    leaseMs: 1_000,
    enough: 1,
    report: () => {},
    trouble: () => {},
  });
  const leased = chunk();
  const sent = (seq: number): RecordedResult => ({
    companyId: "o",
    campaignId: "c",
    chunk: leased,
    seq,
    attempts: 0,
    outcome: { status: "sent", error: null, reply: null },
    delayMs: null,
    by: { recorded: () => {} },
  });
  const marked = recorder.mark(leased, 10);
  // It is under way, in vain.
  await new Promise((done) => setTimeout(done, 20));
  recorder.add(sent(7));
  // Nothing but 7 had been handed over: the others go back.
  const back = recorder.mark(leased, 3);
  away = false;
  await Promise.all([marked, back, recorder.drain()]);
  expect(written[0]!.seqs).toEqual([]);
  // Killed now, recipient 7 must be in doubt and not in the queue.
  expect(written[0]!.mark).toBeGreaterThanOrEqual(7);
  expect(written.at(-1)).toEqual({ mark: 3, seqs: [7] });
});
