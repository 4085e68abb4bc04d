import { query } from "../../../models/database/db.ts";
import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";
import { newId } from "../../../services/lib/ids.ts";
import { readMetrics } from "../../../services/lib/metrics.ts";
import { hideQueueMetrics, showQueueMetrics } from "../../../services/operator/queue-metrics.ts";
import { type App, startApp } from "../../support/app.ts";

/** Inserts a campaign with all recipients in one chunk. */
async function campaign({ chunk, results, secondsAgo }: { chunk: number; results: number; secondsAgo: number }) {
  const [company, id] = [newId(), newId()];
  await query("insert into companies (id, name, plan) values ($1, 'Acme', 'pro')", [company]);
  await query(
    `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, total_emails,
       sent_count, expanded_at, last_turn_at, updated_at, created_at)
     values ($1, $2, 'News', 'to_list', 'sending', $1, $1, 700, $3, now(), now(), now() - $4 * interval '1 second',
       now() - interval '2 hours')`,
    [id, company, results, secondsAgo],
  );
  await query(
    `insert into send_chunks (campaign_id, no, company_id, smtp_config_id, is_transactional, lo, hi, marked_to, state)
     values ($1, 1, $2, $1, false, 1, 500, 100, $3)`,
    [id, company, chunk],
  );
  return id;
}

const { ready, leased, done } = SEND_CHUNK_STATE;

describe("the standstill metrics", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ services: ["operator"] });
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    await query("delete from send_chunks");
    await query("delete from campaigns");
  });

  async function read(): Promise<{ wait: number; standstill: number }> {
    // Values are cached for some seconds.
    hideQueueMetrics();
    showQueueMetrics();
    const metrics = await readMetrics();
    const sampleOf = (name: string) =>
      Number(
        metrics
          .split("\n")
          .find((one) => one.startsWith(`${name} `))!
          .split(" ")[1],
      );
    return {
      wait: sampleOf('flockmail_send_queue_wait_seconds{kind="marketing"}'),
      standstill: sampleOf("flockmail_send_standstill_seconds"),
    };
  }
  /** Allows for a busy machine between insert and query. */
  const about = (seconds: number) => expect.closeTo(seconds + 15, -1.6);

  test.each([
    ["waits in the queue", ready],
    ["is leased, because a sender took its turn and could not hand over", leased],
  ])("both grow while a chunk %s", async (_what, state) => {
    await campaign({ chunk: state, results: 100, secondsAgo: 600 });
    expect(await read()).toEqual({ wait: about(600), standstill: about(600) });
  });

  test("hide no waiting campaign while another progresses, which ends the standstill", async () => {
    await campaign({ chunk: leased, results: 100, secondsAgo: 0 });
    await campaign({ chunk: ready, results: 0, secondsAgo: 600 });
    expect(await read()).toEqual({ wait: about(600), standstill: about(0) });
  });

  test("continue to grow when a new campaign is created", async () => {
    await campaign({ chunk: leased, results: 100, secondsAgo: 600 });
    await campaign({ chunk: ready, results: 0, secondsAgo: 0 });
    expect(await read()).toEqual({ wait: about(600), standstill: about(600) });
  });

  test("are both zero without recipients to send to", async () => {
    await campaign({ chunk: done, results: 100, secondsAgo: 600 });
    expect(await read()).toEqual({ wait: 0, standstill: 0 });
  });
});
