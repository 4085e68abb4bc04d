/**
 * Records spans of batches and emails. An email's span is created when its transaction is answered, so unrecorded emails
 * cost one check of their Message-ID. The span contains no address and no server text, because servers quote addresses.
 */
import { type Attributes, type Span, SpanKind } from "@opentelemetry/api";
import { fail } from "../../lib/tracing/span.ts";
import { readTraceparent } from "../../lib/tracing/trace-context.ts";
import { tracer } from "../../lib/tracing/tracer.ts";
import type { Reply } from "../smtp/replies.ts";
import type { TransactionResult } from "../smtp/transaction.ts";
import type { Mail, MailBatch } from "./mail.ts";

/** Spans of running batches that are recorded. */
const batches = new WeakMap<MailBatch, Span>();

/** Starts a span from the claim to the end of the lease. `claimedAtMs`: by the monotonic clock. */
export function batchClaimed(batch: MailBatch, claimedAtMs: number): void {
  const recorder = tracer();
  if (!recorder) return;
  const { campaign, chunk, kind } = batch;
  const sent = readTraceparent(campaign.traceparent);
  if (!recorder.follows(sent)) return;
  const attributes = {
    "flockmail.company_id": campaign.company_id,
    "flockmail.campaign_id": campaign.campaign_id,
    "flockmail.smtp_config_id": campaign.smtp_config_id,
    "flockmail.batch": kind,
    "flockmail.chunk": chunk?.no,
    "flockmail.recipients": chunk ? chunk.hi - chunk.lo + 1 : undefined,
  };
  const start = { name: `batch ${kind}`, kind: SpanKind.CONSUMER, links: [sent], attributes };
  batches.set(batch, recorder.begin({ ...start, startTime: claimedAtMs }));
}

/** `complete`: every recipient is final or waits individually. */
export function batchOver(batch: MailBatch, complete: boolean): void {
  const span = batches.get(batch);
  span?.setAttribute("flockmail.complete", complete);
  span?.end();
}

const replyOf = (result: TransactionResult): Reply | undefined => ("reply" in result ? result.reply : undefined);

function attributesOf(mail: Mail, result: TransactionResult, newSession: boolean): Attributes {
  const { batch, row, bytes, to } = mail;
  const reply = replyOf(result);
  return {
    "flockmail.company_id": batch.campaign.company_id,
    "flockmail.campaign_id": batch.campaign.campaign_id,
    "flockmail.smtp_config_id": batch.campaign.smtp_config_id,
    "flockmail.message_id": row.message_id,
    "flockmail.copies": mail.copyOf ? to.length : undefined,
    "flockmail.try": row.attempts + (batch.chunk ? 1 : 0),
    "flockmail.result": result.kind,
    "flockmail.bytes": bytes,
    "smtp.new_session": newSession,
    "smtp.reply_code": reply?.code,
    "smtp.enhanced_code": reply?.enhanced || undefined,
    "smtp.refused_at": result.kind === "refused" ? result.stage : undefined,
  };
}

/** The email's first transaction is the root of its trace. */
const isFirst = ({ batch, row, copyOf, endedSessions }: Mail): boolean =>
  batch.chunk !== null && row.attempts === 0 && copyOf === undefined && endedSessions === 0;

/** Called when a transaction with an email or its copies ends. `newSession`: its session had accepted no mail before. */
export function mailAnswered(mail: Mail, result: TransactionResult, newSession: boolean): void {
  const recorder = tracer();
  if (!recorder) return;
  const { batch, row, handedAtMs } = mail;
  const sent = readTraceparent(batch.campaign.traceparent);
  const context = recorder.mail(row.message_id, sent);
  if (!context) return;
  const span = recorder.begin({
    name: "smtp transaction",
    kind: SpanKind.CLIENT,
    ...(isFirst(mail) ? { context } : { parent: context }),
    links: [sent, batches.get(batch)?.spanContext()],
    attributes: attributesOf(mail, result, newSession),
    startTime: handedAtMs,
  });
  if (result.kind !== "accepted") fail(span, result.kind);
  span.end();
}
