/** Terminal output of `ops status`: contents, width and end. */
import type { Ask } from "../../../services/operator/ask-broker.ts";
import type { Overview } from "../../../services/operator/status/overview.ts";
import { duration, screenOf } from "../../../services/operator/status/screen.ts";
import { watchStatus } from "../../../services/operator/status/watch.ts";
import { columnsOf } from "../../../services/operator/table.ts";

const ESC = "\u001b";

const node = (name: string, more: Partial<Overview["nodes"][number]> = {}): Overview["nodes"][number] => ({
  node: name,
  services: ["campaigns"],
  state: "ready",
  version: "0.1.0",
  uptime_seconds: 4_000,
  cpu_percent: 12.4,
  memory_bytes: 200 * 1024 ** 2,
  memory_limit_bytes: 512 * 1024 ** 2,
  event_loop_lag_ms: 3,
  sender: null,
  ...more,
});

const campaign = (name: string, more: Partial<Overview["campaigns"][number]> = {}): Overview["campaigns"][number] => ({
  id: "00000000-0000-4000-8000-000000000000",
  company: "Lantern Books",
  name,
  status: "sending",
  total_emails: 10_000,
  sent_count: 2_500,
  failed_count: 0,
  mails_per_second: 250,
  seconds_left: 30,
  scheduled_for: null,
  waiting_for: null,
  error: null,
  ...more,
});

const SENDER = {
  mails_per_second: 1_234.5,
  in_flight: 40,
  in_doubt: 55,
  max_in_doubt: 200,
  sent: 9_000,
  failed: 3,
  deferred: 17,
  waiting_for: null,
};

const overview = (more: Partial<Overview> = {}): Overview => ({
  at: "2026-11-23T03:04:05.000Z",
  nodes: [node("gateway-1"), node("sender-1", { services: ["smtp-sender", "renderer"], sender: SENDER })],
  campaigns: [campaign("Six books")],
  unfinished_campaigns: 1,
  queues: [
    { queue: "recipients ready", waiting: 7_500, oldest: "2026-11-23T03:00:05.000Z" },
    { queue: "webhooks pending", waiting: 0, oldest: null },
  ],
  limiter_waits_per_second: { hour: 0, day: 0, second: 2.5, domain: 0 },
  backing_off: [{ host: "relay.example:25", until: "2026-11-23T03:05:00.000Z", last_error: "421 later" }],
  slow_domains: 2,
  failing_webhooks: [
    {
      endpoint_id: "00000000-0000-4000-8000-00000000000e",
      company: "Lantern Books",
      failing_since: "2026-11-23T01:04:05.000Z",
      disabled_at: null,
    },
  ],
  dependencies: [
    { what: "PostgreSQL", state: "ok", version: "17.2", latency_ms: 0.4, detail: "41 of 100 connections" },
    { what: "Redis", state: "away", version: null, latency_ms: null, detail: "no connection" },
  ],
  errors: [],
  ...more,
});

describe("the screen", () => {
  test("shows nodes, mails in flight and in doubt, campaigns with rate and remaining time, queues, limits, failing webhooks, dependencies", () => {
    const text = screenOf(overview(), { width: 160, height: 40 }).join("\n");
    for (const part of [
      "Flockmail 0.1.0 · 2 of 2 nodes ready · 1,235 mails/s · 40 in flight · 55 in doubt · 03:04:05 UTC",
      "PostgreSQL 17.2 ok 0.4 ms 41 of 100 connections · Redis away no connection",
      "7,500 recipients ready (since 4m)",
      "limit of the second 2.5/s · 2 slow domains · relay.example:25 backing off until 03:05:00: 421 later",
      "00000000-0000-4000-8000-00000000000e of Lantern Books failing for 2h 00m",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("webhooks pending");
    expect(text).toMatch(
      /sender-1 +ready +12% +200\/512 MiB +3ms +1h 06m +1,235 +40 +55\/200 +17 smtp-sender renderer/,
    );
    expect(text).toMatch(
      /00000000-0000-4000-8000-000000000000 Six books +Lantern Books +sending +2,500\/10,000 +250\/s +30s/,
    );
  });

  test.each([
    [200, 50],
    [80, 24],
    [40, 10],
    [10, 3],
    [1, 1],
  ])("stays within %i columns and %i lines, whatever the names", (width, height) => {
    const wide = overview({
      nodes: Array.from({ length: 30 }, (_, n) => node(`node-${n}-${"x".repeat(60)}`)),
      campaigns: Array.from({ length: 50 }, (_, n) =>
        campaign(`${n} 春の本 👩‍👩‍👧 e\u0301${"本".repeat(40)}`, { waiting_for: "w".repeat(300) }),
      ),
      unfinished_campaigns: 170,
      errors: ["queues: ".padEnd(400, "e")],
    });
    const lines = screenOf(wide, { width, height }, "n".repeat(300));
    expect(lines.length).toBeLessThanOrEqual(height);
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
  });

  test("gives the number of nodes and campaigns that do not fit", () => {
    const lines = screenOf(
      overview({ campaigns: Array.from({ length: 50 }, (_, n) => campaign(`Number ${n}`)), unfinished_campaigns: 120 }),
      { width: 120, height: 24 },
    );
    expect(lines).toHaveLength(24);
    const shownRows = lines.filter((line) => line.startsWith("Number")).length;
    expect(lines.at(-1)).toBe(`… and ${120 - shownRows} more`);
  });

  test("a customer's names neither move the cursor nor reverse the line", () => {
    const named = campaign(`${ESC}[2J${ESC}]0;owned\u0007\u202eSix`, { company: "a\r\nb" });
    const text = screenOf(overview({ campaigns: [named] }), { width: 120, height: 40 }).join("\n");
    expect(text).not.toMatch(/[\u001b\u0007\r\u202e]/);
    expect(text).toContain("Six");
  });

  test.each([
    [0, "0s"],
    [59.6, "1m"],
    [3_600, "1h 00m"],
    [200_000, "2d 7h"],
  ])("%d seconds are %s", (seconds, text) => expect(duration(seconds)).toBe(text));
});

class FakeTerminal {
  columns = 100;
  rows = 30;
  written = "";
  screens = 0;
  onScreen: (count: number) => void = () => {};
  write(text: string) {
    this.written += text;
    if (text.startsWith(`${ESC}[H`)) this.onScreen(++this.screens);
  }
}

const interrupt = () => void process.emit("SIGINT");

/** Watches until two screens were drawn, then presses Ctrl-C. */
async function watched(ask: Ask): Promise<string> {
  const terminal = new FakeTerminal();
  terminal.onScreen = (count) => {
    if (count === 2) interrupt();
  };
  await watchStatus(ask, terminal, 1);
  return terminal.written;
}

describe("--watch", () => {
  test("redraws in place until Ctrl-C and restores the terminal", async () => {
    const listening = process.listenerCount("SIGINT");
    const written = await watched((async () => overview()) as unknown as Ask);
    expect(written.startsWith(`${ESC}[?1049h${ESC}[?25l`)).toBe(true);
    expect(written.split(`${ESC}[H`).length - 1).toBe(2);
    expect(written.endsWith(`${ESC}[?25h${ESC}[?1049l`)).toBe(true);
    expect(process.listenerCount("SIGINT")).toBe(listening);
  });

  test("ends at once while waiting for an answer", async () => {
    const terminal = new FakeTerminal();
    const silent = (() => {
      setImmediate(interrupt);
      return new Promise(() => {});
    }) as unknown as Ask;
    await watchStatus(silent, terminal, 1);
    expect(terminal.written.endsWith(`${ESC}[?25h${ESC}[?1049l`)).toBe(true);
  });

  test("continues after a failed request, reports it, and keeps the last screen", async () => {
    let asked = 0;
    const failing = (async () => {
      if (asked++ > 0) throw new Error(`The service${ESC}[2J does not answer`);
      return overview();
    }) as unknown as Ask;
    const last = (await watched(failing)).split(`${ESC}[H`).at(-1)!;
    expect(last).toContain("No answer: The service [2J does not answer");
    expect(last).toContain("Six books");
  });
});
