/**
 * Sends test emails one after another over a separate session; every email has a result when the time is up, whatever
 * the server does. Nothing is leased, recorded or retried. It takes no connection slot, because a campaign may hold all
 * of them for hours.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { queryOne } from "../../../models/database/db.ts";
import { call } from "../../call.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { config } from "../../lib/config.ts";
import { notFound, smtpRateLimited } from "../../lib/errors.ts";
import { type Limiter, secondWindow } from "../../lib/limits/limiter.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import type { MakeMail, Rendered } from "../../renderer/contract.ts";
import { readTransportConfig, type TransportConfig, UnreadablePassword } from "../configs/transport-config.ts";
import type { TestParams, TestResult } from "../contract-test-send.ts";
import { type WireAddress, wireAddress } from "../delivery/envelope-sender.ts";
import { outgoingMessage } from "../delivery/mail.ts";
import { outcomeOf } from "../delivery/outcome.ts";
import { engineSettings } from "../engine/settings.ts";
import { DayTokens } from "../limits/day-tokens.ts";
import { HourLimit, type HourToken } from "../limits/hour-limit.ts";
import { Connection } from "../smtp/connection.ts";
import { OpenError, openSession, type Session } from "../smtp/session.ts";
import type { OutgoingMessage, TransactionResult } from "../smtp/transaction.ts";

interface TestMail extends OutgoingMessage {
  no: number;
}

const notSent = (error: string): TestResult => ({ status: "failed", smtp_response: null, error });

/** Status as for sent emails, except for results that a campaign would retry or be stopped by. */
function resultOf(result: TransactionResult): TestResult {
  const { status, error, reply, stops } = outcomeOf(result, { tries: 1, isTransactional: false });
  const answer = reply?.text ?? (result.kind === "refused" ? result.reply.text : null);
  if (status === "sent" || status === "bounced" || status === "unknown")
    return { status, smtp_response: answer, error };
  return { status: "failed", smtp_response: answer, error: stops ?? error };
}

/** The server never replied about it. */
const isUntouched = ({ status, smtp_response }: TestResult) => status === "failed" && smtp_response === null;

const late = (withinMs: number) => `The SMTP server took longer than ${Math.ceil(withinMs / 1_000)} seconds`;

interface Delivery {
  transport: TransportConfig;
  limiter: Limiter;
  messages: readonly TestMail[];
  /** Deadline by the monotonic clock. */
  untilMs: number;
  withinMs: number;
}

type Results = Map<number, TransactionResult>;

const STEP_GRACE_MS = 1_000;

/** Resolves with each message's result, at the latest when the time is up. */
async function converse(
  session: Session,
  { transport, limiter, messages, untilMs, withinMs }: Delivery,
): Promise<Results> {
  const results: Results = new Map();
  const timeUp = AbortSignal.timeout(Math.max(1, Math.ceil(untilMs - performance.now())));
  const connection = new Connection(session);
  timeUp.addEventListener("abort", () => connection.abort(late(withinMs)), { once: true });
  for (const message of messages) {
    await waitForRate(transport, limiter, timeUp).catch(() => {});
    connection.ask();
    while (connection.isOpen && !connection.mayBegin) await connection.wait();
    if (!connection.isOpen) break;
    results.set(message.no, await connection.send(message));
  }
  connection.quit();
  if (results.size === messages.length) return results;
  const { reason, reply } = await connection.ended;
  for (const { no } of messages) if (!results.has(no)) results.set(no, { kind: "unsent", reason, reply });
  return results;
}

/** Waits for the configuration's limit per second; an unavailable limiter does not delay a test. */
async function waitForRate(
  { id, maxPerSecond }: TransportConfig,
  limiter: Limiter,
  signal: AbortSignal,
): Promise<void> {
  if (maxPerSecond === null) return;
  const window = secondWindow(id, maxPerSecond);
  for (;;) {
    const { granted, retryAfterMs } = await limiter.take(window, 1);
    if (granted > 0) return;
    await sleep(retryAfterMs, undefined, { signal });
  }
}

/** Throws OpenError. */
async function inOneSession(delivery: Delivery): Promise<Results> {
  const { transport, untilMs, withinMs } = delivery;
  const { allowPrivate, ehloName } = engineSettings();
  const leftMs = Math.max(1, Math.ceil(untilMs - performance.now()));
  // Steps may take longer than the total: the total applies, and the error names it.
  const stepMs = leftMs + STEP_GRACE_MS;
  const opening = openSession(transport, {
    allowPrivate,
    ...(ehloName ? { name: ehloName } : {}),
    connectTimeoutMs: stepMs,
    greetingTimeoutMs: stepMs,
    loginTimeoutMs: stepMs,
  });
  const tooLate = () => new OpenError("connect", "yes", `${late(withinMs)} to open a session.`);
  const session = await withTimeout(opening, leftMs, tooLate).catch((error: unknown) => {
    opening.then(
      ({ socket }) => socket.destroy(),
      () => {},
    );
    throw error;
  });
  return converse(session, delivery);
}

/** A server may end a session after each email: the others use further sessions, as long as each yields a result. */
async function deliver(delivery: Delivery): Promise<Map<number, TestResult>> {
  const results = new Map<number, TestResult>();
  let remaining = delivery.messages;
  try {
    for (
      let before = remaining.length + 1;
      remaining.length > 0 && remaining.length < before && performance.now() < delivery.untilMs;
    ) {
      const ended = await inOneSession({ ...delivery, messages: remaining });
      for (const [no, result] of ended) results.set(no, resultOf(result));
      before = remaining.length;
      remaining = remaining.filter(({ no }) => ended.get(no)!.kind === "unsent");
    }
  } catch (error) {
    if (!(error instanceof OpenError)) throw error;
    for (const { no } of remaining) results.set(no, notSent(error.message));
  }
  return results;
}

interface Row {
  sender: string;
  smtp_per_hour: number | null;
}

// Bounces go to the usual bounce address without a token, so they belong to no mail.
const READ = `
  select coalesce(s.bounce_address, s.sender_email) as sender, p.smtp_per_hour
  from smtp_configs s join companies c on c.id = s.company_id join plans p on p.name = c.plan
  where s.company_id = $1 and s.id = $2`;

interface Room {
  giveBack(...tokens: readonly HourToken[]): Promise<void>;
  tokens: readonly HourToken[];
}

/** Takes hourly and warm-up tokens for all emails or none. Throws 429. */
async function takeTokens(limiter: Limiter, transport: TransportConfig, row: Row, mails: number): Promise<Room> {
  const companyId = transport.companyId;
  if (mails === 0) return { tokens: [], giveBack: async () => {} };
  const hour = new HourLimit(
    limiter,
    { company_id: companyId, smtp_per_hour: row.smtp_per_hour },
    config().LIMIT_WINDOW_SECONDS,
  );
  const campaign = { company_id: companyId, smtp_config_id: transport.id };
  const limits = new DayTokens(hour, campaign, () => transport.warmup);
  const { tokens, retryAfterMs, waitsForDay } = await limits.take(Array(mails).fill(1));
  if (tokens.length === mails) return { tokens, giveBack: (...unused) => limits.giveBack(...unused) };
  await limits.giveBack(...tokens);
  const where = waitsForDay ? "on this day of the warm-up" : "in this hour";
  const message = `This test has ${mails} emails, and ${tokens.length} are left ${where}.`;
  throw smtpRateLimited(message, Math.ceil(retryAfterMs / 1_000));
}

/** Renders the emails; returns results for those that failed. */
function messagesOf(mails: readonly (Rendered | MakeMail)[], to: readonly string[], sender: WireAddress) {
  const failed = new Map<number, TestResult>();
  const messages: TestMail[] = [];
  for (const [no, mail] of mails.entries()) {
    const made = typeof mail === "function" ? mail() : mail;
    if (made.ok) messages.push({ ...outgoingMessage(sender, [to[no]!], made.raw, made), no });
    else failed.set(no, notSent(`The mail could not be rendered: ${made.error}`));
  }
  return { messages, failed };
}

/** Throws 429 if the hourly or warm-up limit is reached. */
export async function sendTests(
  ctx: Ctx<TestParams>,
  limiter: Limiter,
): Promise<{ results: TestResult[]; warnings: string[] }> {
  const companyId = companyOf(ctx);
  const { within_ms: withinMs, ...content } = ctx.params;
  const untilMs = performance.now() + withinMs;
  const { to, smtp_config_id: id } = content;
  const { mails, warnings } = await call(ctx, "renderer.renderTests", content);
  const row = await queryOne<Row>(READ, [companyId, id]);
  try {
    const transport = await readTransportConfig(companyId, id);
    if (!row || !transport) throw notFound();
    const { messages, failed } = messagesOf(mails, to, wireAddress(row.sender));
    const taken = await takeTokens(limiter, transport, row, messages.length);
    const delivered = await deliver({ transport, limiter, messages, untilMs, withinMs });
    const unused = [...delivered.values()].filter(isUntouched);
    await taken.giveBack(...taken.tokens.slice(0, unused.length));
    const results = to.map((_, index) => failed.get(index) ?? delivered.get(index) ?? notSent(`${late(withinMs)}.`));
    return { results, warnings };
  } catch (error) {
    if (!(error instanceof UnreadablePassword)) throw error;
    return { results: to.map(() => notSent(error.message)), warnings };
  }
}
