/**
 * Receives a provider's webhook: authenticates, stores, answers, ingests. It answers 200 once the report is stored,
 * because providers retry other answers only for some hours. Events that cannot be ingested at once are retried;
 * inbound_seen prevents duplicates.
 */
import { createHash } from "node:crypto";
import type { ParamsOf } from "../contracts.ts";
import { badRequest, unauthenticated, unavailable } from "../lib/errors.ts";
import { getText } from "../lib/ssrf/get-text.ts";
import { withTimeout } from "../lib/timeouts.ts";
import type { Ingester } from "./ingest.ts";
import {
  addReport,
  bindTopic,
  claimReports,
  claimToken,
  deferReport,
  finishReport,
  type StoredReport,
} from "./provider-report-queue.ts";
import type { ProviderRequest } from "./providers/credentials.ts";
import type { ProviderEvent } from "./providers/event.ts";
import { mailgunToken } from "./providers/mailgun.ts";
import { PROVIDER_TABLE } from "./providers/providers.ts";
import { readSns, snsUrl } from "./providers/sns.ts";
import { type Source, sourceAt } from "./sources.ts";

/** An object, so that tests can replace Amazon. */
export const amazon = {
  get: (url: URL): Promise<string> => getText(url, { maxBytes: 64 * 1024, timeoutMs: 8_000 }),
};

const sha256 = (text: string) => createHash("sha256").update(text).digest("base64url");

const refused = () => unauthenticated("The report has no valid signature.");

/** Anyone can request a subscription for any address, so only the first topic is ever confirmed. */
async function confirmTopic(source: Source, topic: string, subscribeUrl: string): Promise<void> {
  const url = snsUrl(subscribeUrl);
  if (!url) throw refused();
  if ((await bindTopic(source.companyId, source.id, topic)) !== topic) throw refused();
  await amazon.get(url).catch((error: Error) => {
    throw unavailable("The subscription could not be confirmed.", error);
  });
}

/** Returns the message that SES published, or null for a subscription confirmation. */
async function publishedBySes(source: Source, request: ProviderRequest): Promise<string | null> {
  const message = await readSns(request.body, amazon.get).catch((error: Error) => {
    throw unavailable("Amazon's certificate could not be fetched.", error);
  });
  if (!message || message.topic === "") throw refused();
  const isOfTopic = source.topic === message.topic;
  if (message.type === "SubscriptionConfirmation" && (isOfTopic || source.topic === null)) {
    await confirmTopic(source, message.topic, message.subscribeUrl);
    return null;
  }
  if (!isOfTopic) throw refused();
  return message.type === "Notification" ? message.message : null;
}

/** Returns the authenticated body, or null if there is nothing to ingest. Throws if the request is not authentic. */
async function authenticatedBody(source: Source, request: ProviderRequest): Promise<string | null> {
  const { provider, secret } = source;
  if (provider === "ses") return publishedBySes(source, request);
  const { secret: rule, isAuthentic } = PROVIDER_TABLE[provider];
  const isProved = secret === null ? rule === "optional" : isAuthentic(request, secret);
  if (!isProved) throw refused();
  if (provider === "mailgun") {
    const token = mailgunToken(request, secret!)!;
    if (!(await claimToken(source, sha256(token), sha256(request.body)))) throw refused();
  }
  return request.body;
}

function eventsOf(provider: Source["provider"], text: string): ProviderEvent[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw badRequest("The report is not JSON.");
  }
  return PROVIDER_TABLE[provider].read(body);
}

/** Must stay below MAX_WAITING (ingest.ts). */
const AT_ONCE = 50;

export interface ReportDeps {
  ingester: Ingester;
  log: (sentence: string) => void;
}

/** Ingests as many events as possible, and rejects if any failed. */
async function ingestEvents(
  { ingester }: ReportDeps,
  stored: Omit<StoredReport, "body" | "attempts">,
  events: readonly ProviderEvent[],
): Promise<void> {
  const { id, company_id: companyId, source_id: origin, provider: via, smtp_config_id: smtpConfigId } = stored;
  let failure: Error | undefined;
  for (let at = 0; at < events.length; at += AT_ONCE) {
    const rows = events.slice(at, at + AT_ONCE).map(({ report, raw }) => {
      const dedupe = { origin, key: sha256(raw) };
      return ingester.ingest({ via, companyId, smtpConfigId, report, raw: Buffer.from(raw), dedupe });
    });
    for (const one of await Promise.allSettled(rows)) if (one.status === "rejected") failure = one.reason as Error;
  }
  if (failure) throw failure;
  await finishReport(companyId, id);
}

/** Providers wait only some seconds for an answer. */
const ANSWER_MS = 4_000;

export async function receiveReport(
  deps: ReportDeps,
  { provider, token, raw, headers }: ParamsOf<"bounces.receiveReport">,
): Promise<{ accepted: number }> {
  const source = await sourceAt(provider, token);
  const text = await authenticatedBody(source, { headers, body: raw });
  const events = text === null ? [] : eventsOf(provider, text);
  if (events.length === 0) return { accepted: 0 };
  const { id: sourceId, companyId, smtpConfigId } = source;
  const id = await addReport(companyId, sourceId, text!);
  const stored = { id, company_id: companyId, source_id: sourceId, provider, smtp_config_id: smtpConfigId };
  // The report is stored: if this attempt fails, any node retries it.
  const willRetry = (error: Error) => deps.log(`Report of ${provider} will be retried: ${error.message}`);
  const work = ingestEvents(deps, stored, events).catch(willRetry);
  await withTimeout(work, ANSWER_MS, () => new Error("slow")).catch(() => {});
  return { accepted: events.length };
}

const CLAIMED = 20;
const FIRST_BACKOFF_SECONDS = 10;
const MAX_BACKOFF_SECONDS = 3_600;
/** About ten hours; a failure that lasts longer is not an outage. */
const MAX_ATTEMPTS = 18;

async function retryReport(deps: ReportDeps, stored: StoredReport): Promise<void> {
  const { id, company_id: companyId, provider, attempts } = stored;
  try {
    await ingestEvents(deps, stored, eventsOf(provider, stored.body));
  } catch (error) {
    const isOver = attempts >= MAX_ATTEMPTS;
    deps.log(`Report of ${provider} ${isOver ? "dropped" : "will be retried"}: ${(error as Error).message}`);
    if (isOver) return finishReport(companyId, id);
    await deferReport(companyId, id, Math.min(MAX_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** (attempts - 1)));
  }
}

/** Ingests reports left by dead nodes, outages and slow requests. */
export async function retryReports(deps: ReportDeps): Promise<void> {
  for (;;) {
    const claimed = await claimReports(CLAIMED);
    for (const stored of claimed) await retryReport(deps, stored);
    if (claimed.length < CLAIMED) return;
  }
}
