/**
 * Trace span of a webhook delivery attempt, and the `traceparent` header sent to the receiver. An attempt about a mail
 * joins the mail's trace; any other event has its own trace. The span names the endpoint by id, because endpoint URLs
 * contain tokens.
 */
import { type Span, type SpanContext, SpanKind } from "@opentelemetry/api";
import { traceOfCampaign } from "../../models/statements/campaign-traces.ts";
import { mailIds } from "../../models/statements/mail-key.ts";
import type { ClaimedDelivery } from "../../models/statements/webhook-deliveries.ts";
import { fail } from "../lib/tracing/span.ts";
import { contextOf, traceparentOf } from "../lib/tracing/trace-context.ts";
import { type SpanStart, type Tracer, tracer } from "../lib/tracing/tracer.ts";

interface EventSubject {
  sent_email_id: string | null;
  campaign_id: string | null;
}

type SpanPosition = Pick<SpanStart, "parent" | "context" | "links">;

/** Returns the Message-ID of a mail: the stored id if the row has one, otherwise computed from the row. */
async function messageIdOf(mailId: string): Promise<string> {
  const ids = await mailIds();
  return ids.read(mailId) ? ids.messageIds([mailId])[0]! : mailId;
}

/** Returns the parent and links of the span, or undefined if the attempt is not recorded. */
async function spanPositionOf(recorder: Tracer, claimed: ClaimedDelivery): Promise<SpanPosition | undefined> {
  const { sent_email_id, campaign_id } = JSON.parse(claimed.payload) as EventSubject;
  const sent = campaign_id ? await traceOfCampaign(claimed.company_id, campaign_id) : undefined;
  if (sent_email_id) {
    const parent = recorder.mail(await messageIdOf(sent_email_id), sent);
    return parent && { parent, links: [sent] };
  }
  const eventContext: SpanContext = contextOf(claimed.event_id);
  if (sent ? !recorder.follows(sent) : !recorder.isChosen(claimed.event_id)) return undefined;
  // All attempts of one event share a trace; the first attempt is its root.
  return claimed.attempts === 0 ? { context: eventContext, links: [sent] } : { parent: eventContext, links: [sent] };
}

/** Starts the span; undefined if the attempt is not recorded. Tracing errors never fail an attempt. */
export async function beginAttempt(claimed: ClaimedDelivery): Promise<Span | undefined> {
  const recorder = tracer();
  if (!recorder) return undefined;
  const position = await spanPositionOf(recorder, claimed).catch(() => undefined);
  return (
    position &&
    recorder.begin({
      name: "webhook POST",
      kind: SpanKind.CLIENT,
      ...position,
      attributes: {
        "flockmail.company_id": claimed.company_id,
        "flockmail.webhook_endpoint_id": claimed.endpoint_id,
        "flockmail.event_id": claimed.event_id,
        "flockmail.event_type": claimed.event_type,
        "flockmail.try": claimed.attempts + 1,
        "http.request.method": "POST",
      },
    })
  );
}

export const traceHeaders = (span: Span | undefined): Record<string, string> =>
  span ? { traceparent: traceparentOf(span.spanContext()) } : {};

/** Ends the span. `result` is acknowledged, failed, or interrupted (the process stopped). */
export function attemptOver(span: Span | undefined, result: string, status: number | null): void {
  if (!span) return;
  span.setAttributes({ "flockmail.result": result, "http.response.status_code": status ?? undefined });
  if (result !== "acknowledged") fail(span, status === null ? result : String(status));
  span.end();
}
