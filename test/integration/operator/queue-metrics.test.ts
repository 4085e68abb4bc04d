/** Queue and mail metrics of /metrics, compared with known rows. */

import { query } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
import { readMetrics } from "../../../services/lib/metrics.ts";
import { type App, startApp } from "../../support/app.ts";

describe("the metrics of an operator's node", () => {
  let app: App;
  let metrics: string;
  const sampleOf = (sample: string) => {
    const line = metrics.split("\n").find((one) => one.startsWith(`${sample} `));
    return line === undefined ? undefined : Number(line.slice(sample.length));
  };

  beforeAll(async () => {
    app = await startApp({ services: ["operator"] });
    const [company, campaign, endpoint] = [newId(), newId(), newId()];
    await query("insert into companies (id, name, plan) values ($1, 'Acme', 'pro')", [company]);
    await query(
      `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, total_emails,
         expanded_at, updated_at, created_at)
       values ($1, $2, 'News', 'to_list', 'pending', $1, $1, 700, now(), now() - interval '90 seconds', now() - interval '2 hours')`,
      [campaign, company],
    );
    await query(
      `insert into send_chunks (campaign_id, no, company_id, smtp_config_id, is_transactional, lo, hi, marked_to, state)
       values ($1, 1, $2, $1, false, 1, 500, 100, 0), ($1, 2, $2, $1, false, 501, 700, 500, 1)`,
      [campaign, company],
    );
    await query(
      "insert into webhook_endpoints (id, company_id, url, events, secret_sealed) values ($1, $2, 'https://x', '{}', '')",
      [endpoint, company],
    );
    await query(
      `insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload, next_attempt_at)
       values ($1, $2, $2, 'opened', '{}', now() - interval '30 seconds')`,
      [company, endpoint],
    );
    metrics = await readMetrics();
  });
  afterAll(() => app.stop());

  test("contain waiting recipients by state, without those already marked in a chunk", () => {
    expect(sampleOf('flockmail_send_queue_recipients{state="ready"}')).toBe(400);
    expect(sampleOf('flockmail_send_queue_recipients{state="leased"}')).toBe(200);
    expect(sampleOf('flockmail_send_queue_recipients{state="deferred"}')).toBe(0);
  });

  test("contain a campaign's waiting time, which starts when it could be sent; zeros are reported", () => {
    expect(sampleOf('flockmail_send_queue_wait_seconds{kind="marketing"}')).toBeGreaterThan(89);
    expect(sampleOf('flockmail_send_queue_wait_seconds{kind="marketing"}')).toBeLessThan(120);
    expect(sampleOf('flockmail_send_queue_wait_seconds{kind="transactional"}')).toBe(0);
    expect(sampleOf('flockmail_campaigns{status="pending"}')).toBe(1);
    expect(sampleOf('flockmail_campaigns{status="sending"}')).toBe(0);
  });

  test("contain the time since the last result of all sendable campaigns", () => {
    expect(sampleOf("flockmail_send_standstill_seconds")).toBeGreaterThan(89);
    expect(sampleOf("flockmail_send_standstill_seconds")).toBeLessThan(120);
  });

  test("contain the webhook queue's length and delay", () => {
    expect(sampleOf("flockmail_webhook_queue_deliveries")).toBe(1);
    expect(sampleOf("flockmail_webhook_queue_overdue_seconds")).toBeGreaterThanOrEqual(30);
  });

  test("contain memory and event loop lag of the process", () => {
    expect(sampleOf("process_resident_memory_bytes")).toBeGreaterThan(1e7);
    expect(sampleOf("flockmail_event_loop_lag_seconds")).toBeGreaterThanOrEqual(0);
  });
});
