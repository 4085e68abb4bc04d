/**
 * Background work costs the same for ten companies as for ten thousand idle ones: as many statements, each with a
 * bounded number of pages.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as pass } from "node:timers/promises";
import type { Service } from "moleculer";
import pg from "pg";
import { type App, startApp } from "../../support/app.ts";
import { type Repeating, stopRepetitions } from "../../support/repetitions.ts";

const COMPANIES = 10_000;
/**
 * Limit of 8 KB pages per statement. Scanning all companies takes 180, their campaigns more; statements on the
 * catalogue take 100.
 */
const MAX_PAGES = 128;

interface Statement {
  by: string;
  text: string;
  values: unknown[];
}

interface Sender extends Service {
  sender: { engine: { recover(): Promise<unknown>; stops: { check(): Promise<unknown> } } };
}

/** First statement of each new connection. */
const OPENS_CONNECTION = /^select pg_backend_pid\(\)/;
/** Statements of a sender's check for expired leases, which covers more every 15 s. */
const MAX_OF_SENDER = 8;

/** Records the process's statements by their sender. */
class Listener {
  readonly #by = new AsyncLocalStorage<string>();
  readonly #query = pg.Client.prototype.query;
  heard: Statement[] = [];
  #open = 0;

  start(): void {
    const listener = this;
    const query = this.#query as (...given: unknown[]) => unknown;
    pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
      const by = listener.#by.getStore();
      const [what, values] = given as [string | { text?: string; values?: unknown[] }, unknown];
      const text = typeof what === "string" ? what : what?.text;
      const answer = query.apply(this, given);
      if (by !== undefined && text !== undefined && !OPENS_CONNECTION.test(text)) {
        listener.heard.push({
          by,
          text,
          values: (typeof what === "string" ? undefined : what.values) ?? (Array.isArray(values) ? values : []),
        });
        if (answer instanceof Promise) {
          listener.#open++;
          const ended = () => void listener.#open--;
          answer.then(ended, ended);
        }
      }
      return answer;
    } as never;
  }

  stop(): void {
    pg.Client.prototype.query = this.#query;
  }

  async during(by: string, work: () => unknown): Promise<void> {
    await this.#by.run(by, async () => {
      await work();
      // Waits for work that it started without awaiting it.
      for (let quiet = 0; quiet < 5; quiet++) {
        while (this.#open > 0) {
          quiet = 0;
          await pass();
        }
        await pass();
      }
    });
  }
}

describe("background work with many companies", () => {
  let app: App;
  let client: pg.Client;
  const listener = new Listener();

  beforeAll(async () => {
    app = await startApp();
    client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
    await stopRepetitions(app.broker);
    listener.start();
  });
  afterAll(async () => {
    listener.stop();
    await client?.end();
    await app?.stop();
  });

  /**
   * Every second company keeps inbound messages for a month only. Each has a scheduled and a completed campaign, a
   * server, a webhook endpoint, a list and two people.
   */
  const furnish = (count: number) =>
    client.query(`
      with company as (
        insert into companies (id, name, plan, retention_days, retention_done_at)
        select uuid_v7(), 'Company ' || n, 'unlimited', case when n % 2 = 0 then '{"inbound": 30}' else '{}' end::jsonb, now() from generate_series(1, ${count}) n
        returning id),
      server as (
        insert into smtp_configs (id, company_id, name, host, port, sender_email)
        select uuid_v7(), id, 'Main', 'smtp.example.com', 587, 'news@example.com' from company returning id, company_id),
      campaign as (
        insert into campaigns (id, company_id, name, status, campaign_type, smtp_config_id, worker_task_id, scheduled_for)
        select uuid_v7(), company_id, 'News', status, 'custom', id, uuid_v7(), now() + interval '1 day'
        from server, unnest(array['scheduled', 'completed']) status),
      endpoint as (
        insert into webhook_endpoints (id, company_id, url, events, secret_sealed)
        select uuid_v7(), id, 'https://example.com/', '{opened}', '\\x00' from company returning id, company_id),
      delivery as (
        insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload, status, next_attempt_at)
        select company_id, id, uuid_v7(), 'opened', '{}', 'succeeded', null from endpoint),
      list as (insert into lists (id, company_id, name) select uuid_v7(), id, 'All' from company),
      person as (
        insert into subscribers (company_id, email)
        select id, n || '@example.com' from company, generate_series(1, 2) n)
      select`);

  /** Runs all periodic work once; returns the number of statements of each. */
  async function runAll(): Promise<Record<string, number>> {
    listener.heard = [];
    for (const service of app.broker.services as Repeating[]) {
      for (const action of service.repetitions?.keys() ?? []) {
        const name = `${service.name}.${action}`;
        await listener.during(name, () => app.broker.call(name, {}, { timeout: 0 }));
      }
    }
    const { engine } = (app.broker.getLocalService("smtp-sender") as Sender).sender;
    await listener.during("sender: recovers", () => engine.recover());
    await listener.during("sender: checks for stops", () => engine.stops.check());
    const counts: Record<string, number> = {};
    for (const { by } of listener.heard) counts[by] = (counts[by] ?? 0) + 1;
    return counts;
  }

  interface Plan {
    "Shared Hit Blocks": number;
    "Shared Read Blocks": number;
  }

  /** The lower of two runs, because the first after an analyse reads the catalogue again. */
  const pagesOf = async (statement: Statement): Promise<number> =>
    Math.min(await pagesOnce(statement), await pagesOnce(statement));

  async function pagesOnce({ text, values }: Statement): Promise<number> {
    await client.query("begin");
    try {
      const { rows } = await client.query({ text: `explain (analyze, buffers, format json) ${text}`, values });
      const { Plan } = (rows[0]["QUERY PLAN"] as { Plan: Plan }[])[0]!;
      return Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"];
    } finally {
      await client.query("rollback");
    }
  }

  test("one round of all periodic work takes as many statements for ten thousand companies as for ten, with few pages each", async () => {
    await furnish(10);
    await runAll();
    const few = await runAll();
    await furnish(COMPANIES - 10);
    await client.query("vacuum analyze");
    await runAll();
    const many = await runAll();
    expect(Object.keys(few).length).toBeGreaterThan(20);
    const ofServices = (counts: Record<string, number>) =>
      Object.fromEntries(Object.entries(counts).filter(([by]) => !by.startsWith("sender")));
    expect(ofServices(many)).toEqual(ofServices(few));
    for (const [by, count] of Object.entries(many))
      if (by.startsWith("sender")) expect(count).toBeLessThanOrEqual(MAX_OF_SENDER);
    const readsMuch: string[] = [];
    const seen = new Set<string>();
    for (const statement of listener.heard) {
      if (!/^\s*(with|select|update|insert|delete)\b/i.test(statement.text) || seen.has(statement.text)) continue;
      seen.add(statement.text);
      const pages = await pagesOf(statement);
      if (pages > MAX_PAGES)
        readsMuch.push(`${statement.by}: ${pages} pages: ${statement.text.replaceAll(/\s+/g, " ").trim()}`);
    }
    expect(readsMuch).toEqual([]);
  });
});
