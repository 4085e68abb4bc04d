/**
 * Stores the trace of the request that sent a campaign, if recorded. Batches, emails and webhooks come minutes later and
 * on other nodes: they are separate traces with a link to it.
 */
import type { SpanContext } from "@opentelemetry/api";
import { LRUCache } from "lru-cache";
import { activeTraceparent } from "../../services/lib/tracing/span.ts";
import { readTraceparent } from "../../services/lib/tracing/trace-context.ts";
import { type Client, query, queryOne } from "../database/db.ts";

const STORE = "update campaign_contents set traceparent = $3 where company_id = $1 and campaign_id = $2";
const READ = "select traceparent from campaign_contents where company_id = $1 and campaign_id = $2";

/** Called in the transaction of a send; no effect if its request is not recorded. */
export async function storeTraceWithin(client: Client, companyId: string, campaignId: string): Promise<void> {
  const traceparent = activeTraceparent();
  if (traceparent) await query(STORE, [companyId, campaignId, traceparent], client);
}

/** Trace by campaign, which never changes once stored. */
const traces = new LRUCache<string, { trace: SpanContext | undefined }>({ max: 1_000 });

/**
 * Returns the trace of a campaign for its webhooks, whose rows contain only the campaign. One look-up per campaign,
 * only if webhooks are traced.
 */
export async function traceOfCampaign(companyId: string, campaignId: string): Promise<SpanContext | undefined> {
  const key = `${companyId} ${campaignId}`;
  const before = traces.get(key);
  if (before) return before.trace;
  const row = await queryOne<{ traceparent: string | null }>(READ, [companyId, campaignId]);
  const trace = readTraceparent(row?.traceparent);
  traces.set(key, { trace });
  return trace;
}
