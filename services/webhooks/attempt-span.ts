/**
 * The span of an attempt to deliver a webhook, and the `traceparent` that its receiver gets. One about a mail belongs to the
 * mail's trace, any other has a trace of its own. It names the endpoint by its id: addresses of endpoints hold tokens.
 */
import { type Span, type SpanContext, SpanKind } from "@opentelemetry/api";
import { traceOfCampaign } from "../../models/statements/campaign-traces.ts";
import { mailIds } from "../../models/statements/mail-key.ts";
import type { ClaimedDelivery } from "../../models/statements/webhook-deliveries.ts";
import { fail } from "../lib/tracing/span.ts";
import { contextOf, traceparentOf } from "../lib/tracing/trace-context.ts";
import { type SpanStart, type Tracer, tracer } from "../lib/tracing/tracer.ts";

interface About {
  sent_email_id: string | null;
  campaign_id: string | null;
}

type Place = Pick<SpanStart, "parent" | "context" | "links">;

/** Rows whose id is stored have had it in their Message-ID; that of the others is computed. */
async function messageIdOf(mailId: string): Promise<string> {
  const ids = await mailIds();
  return ids.read(mailId) ? ids.messageIds([mailId])[0]! : mailId;
}

/** Where its span belongs: undefined where it is not recorded. */
async function placeOf(recorder: Tracer, claimed: ClaimedDelivery): Promise<Place | undefined> {
  const { sent_email_id, campaign_id } = JSON.parse(claimed.payload) as About;
  const sent = campaign_id ? await traceOfCampaign(claimed.company_id, campaign_id) : undefined;
  if (sent_email_id) {
    const parent = recorder.mail(await messageIdOf(sent_email_id), sent);
    return parent && { parent, links: [sent] };
  }
  const own: SpanContext = contextOf(claimed.event_id);
  if (sent ? !recorder.follows(sent) : !recorder.isChosen(claimed.event_id)) return undefined;
  // The attempts of one event are one trace; the first of them is its root.
  return claimed.attempts === 0 ? { context: own, links: [sent] } : { parent: own, links: [sent] };
}

/** Undefined where it is not recorded: an attempt never fails for its trace. */
export async function beginAttempt(claimed: ClaimedDelivery): Promise<Span | undefined> {
  const recorder = tracer();
  if (!recorder) return undefined;
  const place = await placeOf(recorder, claimed).catch(() => undefined);
  return (
    place &&
    recorder.begin({
      name: "webhook POST",
      kind: SpanKind.CLIENT,
      ...place,
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

/** `result`: acknowledged, failed, or interrupted by the end of the process. */
export function attemptOver(span: Span | undefined, result: string, status: number | null): void {
  if (!span) return;
  span.setAttributes({ "flockmail.result": result, "http.response.status_code": status ?? undefined });
  if (result !== "acknowledged") fail(span, status === null ? result : String(status));
  span.end();
}
