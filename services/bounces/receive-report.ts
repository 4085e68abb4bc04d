/**
 * A provider's request: proved, stored, answered, worked off. It is answered with 200 as soon as it is stored, and with 5xx
 * only where it is not: providers repeat what they get no 200 for, and give up after some hours. What cannot be worked off
 * at once is tried again, event by event; those that were taken in are not taken in twice (inbound_seen).
 */
import { createHash } from "node:crypto";
import type { ParamsOf } from "../contracts.ts";
import { badRequest, unauthenticated, unavailable } from "../lib/errors.ts";
import { getText } from "../lib/ssrf/get-text.ts";
import { withTimeout } from "../lib/timeouts.ts";
import {
  addReport,
  bindTopic,
  claimReports,
  deferReport,
  finishReport,
  type StoredReport,
  spendToken,
} from "./inbound-reports.ts";
import type { ProviderRequest } from "./providers/credentials.ts";
import type { ProviderEvent } from "./providers/event.ts";
import { mailgunToken } from "./providers/mailgun.ts";
import { PROVIDER_TABLE } from "./providers/providers.ts";
import { readSns, snsUrl } from "./providers/sns.ts";
import { type Source, sourceAt } from "./sources.ts";
import type { Intake } from "./take-in.ts";

/** An object, so that a test can stand in for Amazon. */
export const amazon = {
  get: (url: URL): Promise<string> => getText(url, { maxBytes: 64 * 1024, timeoutMs: 8_000 }),
};

const sha256 = (text: string) => createHash("sha256").update(text).digest("base64url");

const refused = () => unauthenticated("The report has no valid signature.");

/** Anybody may ask for anybody's subscription: only the topic that came first is ever confirmed. */
async function confirmTopic(source: Source, topic: string, subscribeUrl: string): Promise<void> {
  const url = snsUrl(subscribeUrl);
  if (!url) throw refused();
  if ((await bindTopic(source.companyId, source.id, topic)) !== topic) throw refused();
  await amazon.get(url).catch((error: Error) => {
    throw unavailable("The subscription could not be confirmed.", error);
  });
}

/** What SES published, or null where SNS asks about the subscription. */
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

/** What the provider says, as text. Throws where it is not the provider who says it. */
async function proved(source: Source, request: ProviderRequest): Promise<string | null> {
  const { provider, secret } = source;
  if (provider === "ses") return publishedBySes(source, request);
  const { secret: rule, isAuthentic } = PROVIDER_TABLE[provider];
  const isProved = secret === null ? rule === "optional" : isAuthentic(request, secret);
  if (!isProved) throw refused();
  if (provider === "mailgun") {
    const token = mailgunToken(request, secret!)!;
    if (!(await spendToken(source, sha256(token), sha256(request.body)))) throw refused();
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

/** Fewer than may wait to be taken in (take-in.ts). */
const AT_ONCE = 50;

/** What this node takes reports in with, and whom it notifies of what waits. */
export interface Desk {
  intake: Intake;
  log: (sentence: string) => void;
}

/** Rejects where some of it is not taken in; the rest is. */
async function workOff(
  { intake }: Desk,
  stored: Omit<StoredReport, "body" | "attempts">,
  events: readonly ProviderEvent[],
): Promise<void> {
  const { id, company_id: companyId, source_id: origin, provider: via, smtp_config_id: smtpConfigId } = stored;
  let failure: Error | undefined;
  for (let at = 0; at < events.length; at += AT_ONCE) {
    const taken = events.slice(at, at + AT_ONCE).map(({ report, raw }) => {
      const once = { origin, key: sha256(raw) };
      return intake.takeIn({ via, companyId, smtpConfigId, report, raw: Buffer.from(raw), once });
    });
    for (const one of await Promise.allSettled(taken)) if (one.status === "rejected") failure = one.reason as Error;
  }
  if (failure) throw failure;
  await finishReport(companyId, id);
}

/** Providers wait some seconds for an answer. */
const ANSWER_MS = 4_000;

export async function receiveReport(
  desk: Desk,
  { provider, token, raw, headers }: ParamsOf<"bounces.receiveReport">,
): Promise<{ accepted: number }> {
  const source = await sourceAt(provider, token);
  const text = await proved(source, { headers, body: raw });
  const events = text === null ? [] : eventsOf(provider, text);
  if (events.length === 0) return { accepted: 0 };
  const { id: sourceId, companyId, smtpConfigId } = source;
  const id = await addReport(companyId, sourceId, text!);
  const stored = { id, company_id: companyId, source_id: sourceId, provider, smtp_config_id: smtpConfigId };
  // It is stored: whatever happens now is made good by whoever finds the row.
  const waits = (error: Error) => desk.log(`A report of ${provider} waits: ${error.message}`);
  const work = workOff(desk, stored, events).catch(waits);
  await withTimeout(work, ANSWER_MS, () => new Error("slow")).catch(() => {});
  return { accepted: events.length };
}

const CLAIMED = 20;
const FIRST_PAUSE_SECONDS = 10;
const MAX_PAUSE_SECONDS = 3_600;
/** Some ten hours. What fails then is no outage. */
const MAX_ATTEMPTS = 18;

async function tryAgain(desk: Desk, stored: StoredReport): Promise<void> {
  const { id, company_id: companyId, provider, attempts } = stored;
  try {
    await workOff(desk, stored, eventsOf(provider, stored.body));
  } catch (error) {
    const isOver = attempts >= MAX_ATTEMPTS;
    desk.log(`A report of ${provider} ${isOver ? "is given up" : "waits"}: ${(error as Error).message}`);
    if (isOver) return finishReport(companyId, id);
    await deferReport(companyId, id, Math.min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (attempts - 1)));
  }
}

/** What dead nodes, outages and long requests have left. */
export async function workOffReports(desk: Desk): Promise<void> {
  for (;;) {
    const claimed = await claimReports(CLAIMED);
    for (const stored of claimed) await tryAgain(desk, stored);
    if (claimed.length < CLAIMED) return;
  }
}
