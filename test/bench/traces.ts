/**
 * Measures the cost of traces per mail.
 *
 *     node test/bench traces [mails=50000]
 *
 * Runs the code of an answered transaction without a collector, with the default share recorded, and with everything
 * exported to a collector in its own process. Prints CPU per mail (compare with `node test/bench delivery`).
 */

import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as pass } from "node:timers/promises";
import { newId } from "../../services/lib/ids.ts";
import { openTracer } from "../../services/lib/tracing/open-tracer.ts";
import { setTracer } from "../../services/lib/tracing/tracer.ts";
import type { Mail } from "../../services/smtp-sender/delivery/mail.ts";
import { mailAnswered } from "../../services/smtp-sender/delivery/spans.ts";
import type { TransactionResult } from "../../services/smtp-sender/smtp/transaction.ts";

const ROUNDS = 3;
/** Answers within one pass of the event loop. */
const AT_ONCE = 50;
const accepted: TransactionResult = {
  kind: "accepted",
  reply: { code: 250, enhanced: "2.0.0", text: "250 2.0.0 Ok" },
  refused: [],
};

function serve(): void {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end("{}"));
  });
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function measure(count: number): Promise<void> {
  const child = fork(import.meta.filename, ["collector"]);
  const [port] = (await once(child, "message")) as [number];
  const campaign = { company_id: newId(), campaign_id: newId(), smtp_config_id: newId(), traceparent: null };
  const mails = Array.from({ length: count }, () => ({
    batch: { campaign, chunk: { no: 1 } },
    row: { message_id: randomBytes(16).toString("base64url"), attempts: 0 },
    bytes: 20_000,
    endedSessions: 0,
    handedAtMs: performance.now(),
  })) as unknown as Mail[];

  async function run(ratio: number | undefined): Promise<string> {
    const destination = { url: `http://127.0.0.1:${port}/v1/traces`, headers: {}, resource: {} };
    const opened = ratio === undefined ? undefined : openTracer(destination, console, { ratio });
    setTracer(opened?.tracer);
    const before = cpuUs();
    for (const [i, mail] of mails.entries()) {
      mailAnswered(mail, accepted, false);
      if (i % AT_ONCE === 0) await pass();
    }
    await opened?.close();
    return ((cpuUs() - before) / count).toFixed(2);
  }

  for (let round = 1; round <= ROUNDS; round++) {
    console.log(`µs per mail: off ${await run(undefined)}, 1 % ${await run(0.01)}, all ${await run(1)}`);
  }
  child.disconnect();
}

if (process.argv[2] === "collector") serve();
else await measure(Number(process.argv[2] ?? 50_000));
