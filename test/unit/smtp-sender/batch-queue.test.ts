/**
 * Number of recipients that each of a server's batches may prepare, and the order of batches
 * (services/smtp-sender/server/batch-queue.ts).
 */
import type { Batch } from "../../../services/smtp-sender/delivery/batch.ts";
import { BatchQueue } from "../../../services/smtp-sender/server/batch-queue.ts";

function campaigns(n: number, window: number) {
  const queue = new BatchQueue();
  const batches = Array.from({ length: n }, (_, no) => {
    const campaign = { campaign_id: `campaign ${no}`, is_transactional: false };
    const open = { state: "open", ready: [], unrecorded: 0, reserved: 0, promised: 0, left: 1_000 };
    const batch = { kind: "chunk", chunk: {}, source: { exhausted: false }, campaign, ...open };
    return batch as unknown as Batch & { unrecorded: number };
  });
  for (const batch of batches) queue.add(batch);
  const held = () => batches.reduce((sum, { unrecorded }) => sum + unrecorded, 0);
  /** Acts as a server: polls the batches, each of which prepares as many as allowed. */
  const fill = () => {
    const groups: [batch: number, mails: number][] = [];
    for (const batch of queue.inTurn) {
      const mails = queue.allowance(batch, { window, held: held(), waiting: 0, connectionIdle: true });
      if (mails === 0) continue;
      batch.unrecorded += mails;
      queue.prepared(batch);
      groups.push([batches.indexOf(batch as (typeof batches)[number]), mails]);
    }
    return groups;
  };
  const record = () => {
    for (const batch of batches) batch.unrecorded = 0;
  };
  return { queue, batches, fill, record };
}

describe("the campaigns of one server", () => {
  test("are prepared concurrently, each with its share", () => {
    const { fill } = campaigns(4, 100);
    expect(fill()).toEqual([0, 1, 2, 3].map((batch) => [batch, 25]));
  });

  test("rotate if the server may hold less than one email of each", () => {
    const { fill, record } = campaigns(3, 1);
    const turns = Array.from({ length: 6 }, () => {
      const groups = fill();
      record();
      return groups;
    });
    expect(turns).toEqual([0, 1, 2, 0, 1, 2].map((batch) => [[batch, 1]]));
  });

  test("keep their order when transactional mail is sent in between", () => {
    const { queue, batches, fill, record } = campaigns(3, 1);
    fill();
    record();
    const campaign = { campaign_id: "receipt", is_transactional: true };
    const receipt = { ...batches[0]!, campaign } as unknown as Batch;
    queue.add(receipt);
    queue.prepared(receipt);
    queue.remove(receipt);
    expect(fill()).toEqual([[1, 1]]);
  });

  test("keep their order when one of them ends", () => {
    const { queue, batches, fill, record } = campaigns(4, 1);
    fill();
    record();
    expect(fill()).toEqual([[1, 1]]);
    record();
    queue.remove(batches[1]!);
    expect(fill()).toEqual([[2, 1]]);
  });
});
