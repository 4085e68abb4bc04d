/**
 * One group of recipients on the way to `ready`: taken from the rows, asked whether they may get the mail at all, admitted
 * to the hour, marked in the database while they are rendered.
 */

import type { Grant } from "../../lib/limits/limiter.ts";
import type { EngineContext } from "../engine/context.ts";
import type { HourToken } from "../limits/hour-limit.ts";
import type { BatchDelivery } from "./batch-delivery.ts";
import { job, sizeOf } from "./prepared-mail.ts";
import type { RecipientRow } from "./rows.ts";
import { notRenderable, stopBeforeRendering } from "./steps.ts";

/** `budget`: how many may be marked. What is not needed of it is given back. */
export async function prepare(lane: BatchDelivery, tools: EngineContext, budget: number): Promise<void> {
  let kept = 0;
  try {
    const rows = await lane.source.take(budget);
    lane.unrecorded += rows.length;
    kept = rows.length;
    const going: RecipientRow[] = [];
    for (const row of rows) {
      const outcome = stopBeforeRendering({ row, isTransactional: lane.campaign.is_transactional });
      if (outcome) lane.record(row, outcome);
      else going.push(row);
    }
    if (going.length > 0) await admit(lane, tools, going);
  } finally {
    tools.budget.give(lane.transport, budget - kept);
  }
}

/** Those for whom the hour has room are marked and rendered. */
async function admit(lane: BatchDelivery, tools: EngineContext, rows: RecipientRow[]): Promise<void> {
  let grant: Grant;
  try {
    grant = await lane.tokens.take(rows.length);
  } catch (error) {
    lane.putBack(rows);
    throw error;
  }
  const admitted = rows.slice(0, grant.granted);
  if (admitted.length < rows.length) {
    lane.putBack(rows.slice(grant.granted));
    lane.waitForHour(grant.retryAfterMs);
  }
  if (admitted.length === 0) return;
  await render(lane, tools, admitted, lane.tokens.of(grant));
}

async function render(
  lane: BatchDelivery,
  tools: EngineContext,
  rows: RecipientRow[],
  token: HourToken,
): Promise<void> {
  const [marked, rendered] = await Promise.allSettled([
    lane.source.mark(rows.at(-1)!.seq, lane.ready.length < 2 * lane.transport.connections.size),
    tools.render(lane.campaign.campaign_id, rows),
  ]);
  const held = marked.status === "fulfilled" && marked.value;
  if (!held || rendered.status === "rejected" || lane.state !== "open") {
    await lane.tokens.give(token, rows.length);
    lane.putBack(rows);
    if (marked.status === "rejected") throw marked.reason;
    if (!held) lane.leaseLost();
    // What was marked was not handed over: giving the lease back says so.
    else lane.end();
    if (rendered.status === "rejected") {
      tools.skipCampaign(lane.campaign.campaign_id);
      throw rendered.reason;
    }
    return;
  }
  lane.transport.mailBytes = Math.max(1, ...rendered.value.map(sizeOf));
  for (const [i, row] of rows.entries()) {
    const mail = rendered.value[i]!;
    if (mail.ok) {
      lane.ready.push(job(lane, row, mail, token));
    } else {
      void lane.tokens.give(token);
      lane.record(row, notRenderable(mail.error));
    }
  }
}
