/** Results as the columns of the statement in record-sql.ts. */

import type { Reply } from "../smtp/replies.ts";
import type { LeasedChunk, RecordedResult, Waiting } from "./recorder.ts";
import type { BounceType } from "./refusals.ts";
import { STATUS } from "./rows.ts";

/**
 * A mark that went back (Lane.takeBack) must not be written before the results it went back behind: `later` are those that
 * came after the flush was put together, which may be tried for long while the database is away.
 */
export function laneColumns(
  lanes: Map<LeasedChunk, Waiting>,
  owner: string,
  leaseMs: number,
  later: readonly RecordedResult[],
): unknown[] {
  const chunks = [...lanes.keys()];
  const unwritten = new Map<LeasedChunk, number>();
  for (const { chunk, seq } of later) if (chunk) unwritten.set(chunk, Math.max(seq, unwritten.get(chunk) ?? 0));
  const waiting = [...lanes.values()];
  return [
    owner,
    leaseMs,
    chunks.map(({ companyId }) => companyId),
    chunks.map(({ campaignId }) => campaignId),
    chunks.map(({ no }) => no),
    chunks.map(({ fence }) => fence),
    chunks.map((chunk) => Math.max(chunk.markedTo, unwritten.get(chunk) ?? 0)),
    waiting.map(({ done }) => done),
  ];
}

/** PostgreSQL stores no NUL; servers that answer in UTF-8 arrive here as latin1 characters. */
function readable(text: string | null): string | null {
  if (text === null) return null;
  // Seen as bytes only when every character is one: sentences of our own may hold anything.
  const bytes = /^[\x00-\xff]*[\x80-\xff][\x00-\xff]*$/.test(text);
  return (bytes ? Buffer.from(text, "latin1").toString("utf8") : text.toWellFormed()).replaceAll("\0", "");
}

const statusOf = ({ outcome }: RecordedResult): number =>
  outcome.status === "deferred" ? STATUS.queued : STATUS[outcome.status];

/** A try counts when it is made; for a recipient claimed by itself the claim has counted it. */
function triedBy({ chunk, outcome }: RecordedResult): number {
  const untried = outcome.status === "queued" || outcome.status === "suppressed";
  if (chunk) return untried ? 0 : 1;
  return untried ? -1 : 0;
}

export function resultColumns(results: RecordedResult[]): unknown[] {
  return [
    results.map((_, n) => n),
    results.map(({ companyId }) => companyId),
    results.map(({ campaignId }) => campaignId),
    results.map(({ chunk }) => chunk?.no ?? null),
    results.map(({ seq }) => seq),
    results.map(({ attempts }) => attempts),
    results.map(statusOf),
    results.map(triedBy),
    results.map(({ delayMs }) => delayMs),
    results.map(({ outcome }) => readable(outcome.error)),
    results.map(({ outcome }) => readable(outcome.reply?.text ?? null)),
  ];
}

/** Per campaign: whether any mail was accepted, and the policy refusals since the last one that was. */
export function campaignColumns(results: RecordedResult[]): unknown[] {
  const campaigns = new Map<string, { companyId: string; accepted: boolean; blocks: number }>();
  for (const { companyId, campaignId, outcome } of results) {
    const seen = campaigns.get(campaignId) ?? { companyId, accepted: false, blocks: 0 };
    campaigns.set(campaignId, seen);
    if (outcome.status === "sent") {
      seen.accepted = true;
      seen.blocks = 0;
    } else if (outcome.bounce === "block") {
      seen.blocks++;
    }
  }
  const seen = [...campaigns.values()];
  return [
    seen.map(({ companyId }) => companyId),
    [...campaigns.keys()],
    seen.map(({ accepted }) => accepted),
    seen.map(({ blocks }) => blocks),
  ];
}

interface BounceRow {
  n: number;
  metadata: { bounce_type: BounceType; smtp_code: number; enhanced_code: string; diagnostic: string | null };
  reason: string | null;
  hard: boolean;
}

export function bouncesOf(results: RecordedResult[]): BounceRow[] {
  return results.flatMap(({ outcome: { bounce, reply } }, n) => {
    if (!bounce || !reply) return [];
    const { code, enhanced, text } = reply as Reply;
    const diagnostic = readable(text);
    const metadata = { bounce_type: bounce, smtp_code: code, enhanced_code: enhanced, diagnostic };
    return [{ n, metadata, reason: diagnostic, hard: bounce === "hard" }];
  });
}
