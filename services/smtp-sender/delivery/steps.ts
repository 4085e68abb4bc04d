/**
 * Defines the steps of an email from its row to its recorded outcome. BEFORE_SMTP runs per group of emails, because each
 * group costs two statements; AFTER_SMTP decides what happens to an email when its transaction ends. In between the email
 * waits in `batch.ready` until a connection asks for it (server/server.ts).
 */
import { performance } from "node:perf_hooks";
import type { DomainBackOffs } from "../domains/domain-back-off.ts";
import { recipientDomain } from "../domains/recipient-domain.ts";
import type { EngineContext } from "../engine/context.ts";
import type { ServerHealth } from "../server/health.ts";
import type { Connection } from "../smtp/connection.ts";
import type { Reply } from "../smtp/replies.ts";
import type { TransactionResult } from "../smtp/transaction.ts";
import { deferredForMs, MAX_SESSIONS_PER_MAIL } from "./back-off.ts";
import { copyOutcome, mailsOf } from "./copies.ts";
import { type Mail, type MailBatch, memoryOf, notRendered } from "./mail.ts";
import { type Outcome, outcomeOf, QUEUED } from "./outcome.ts";
import { type Granters, Permit } from "./permit.ts";
import { isSessionUsedUp } from "./refusals.ts";
import { checkAgain, outcomeUnsent, RECHECK_AFTER_MS } from "./suppression.ts";

interface Group {
  readonly batch: MailBatch;
  readonly granters: Granters;
  readonly context: EngineContext;
  /** Number of open connections of the server. */
  readonly connections: number;
  /** Emails that passed the previous steps. */
  mails: Mail[];
}

type GroupStep = (group: Group) => void | Promise<void>;

const rowsOf = (mails: readonly Mail[]) => mails.map(({ row }) => row);

/** Rechecks rows that waited in their source. */
const recheckStale: GroupStep = async ({ batch, context, mails }) => {
  const now = performance.now();
  if (now - mails[0]!.checkedAtMs < RECHECK_AFTER_MS) return;
  await checkAgain(context.reads, batch.campaign, rowsOf(mails)).catch((error) => {
    batch.putBack(mails);
    throw error;
  });
  for (const mail of mails) mail.checkedAtMs = now;
};

const suppressIneligible: GroupStep = (group) => {
  const { batch, mails } = group;
  group.mails = mails.filter((mail) => {
    const unsent = outcomeUnsent(mail.row, batch.campaign);
    if (unsent) batch.record(mail, unsent);
    return !unsent;
  });
};

/** Takes hourly and daily tokens; emails without one go back to the source. */
const takeHourTokens: GroupStep = async (group) => {
  const { batch, granters, context, mails } = group;
  const grant = await granters.hour.take(rowsOf(mails).map(mailsOf)).catch((error) => {
    batch.putBack(mails);
    const { company_id, smtp_config_id, smtp_per_hour } = batch.campaign;
    if (smtp_per_hour !== null) context.unknownLimits.note(company_id, smtp_config_id);
    throw error;
  });
  const { tokens } = grant;
  for (const [n, token] of tokens.entries()) mails[n]!.permit.grantHour(token);
  group.mails = mails.slice(0, tokens.length);
  if (tokens.length === mails.length) return;
  batch.putBack(mails.slice(tokens.length));
  batch.waitForTokens(grant);
};

/** Takes domain tokens; emails without one are postponed in their rows and do not count as tried. */
const takeDomainTokens: GroupStep = async (group) => {
  const { batch, granters, mails } = group;
  if (!granters.domains.active) return;
  const admissions = await granters.domains.admit(rowsOf(mails), batch.campaign.is_transactional);
  const postponed: { mail: Mail; ms: number }[] = [];
  group.mails = mails.filter((mail, n) => {
    const admission = admissions[n]!;
    if ("token" in admission) mail.permit.grantDomain(admission.token);
    else postponed.push({ mail, ms: admission.postponedMs });
    return "token" in admission;
  });
  Permit.giveBack(postponed.map(({ mail }) => mail.permit));
  for (const { mail, ms } of postponed) batch.record(mail, QUEUED, ms);
};

/**
 * Marks emails in the database before any is handed over. Meanwhile the renderer compiles the campaign and renders emails
 * that are signed.
 */
const markAndRender: GroupStep = async (group) => {
  const { batch, context, connections, mails } = group;
  const [marked, rendered] = await Promise.allSettled([
    batch.source.mark(mails.at(-1)!.row.seq, batch.ready.length < 2 * connections),
    context.outputs.render(batch.campaign.campaign_id, rowsOf(mails)),
  ]);
  const isMarked = marked.status === "fulfilled" && marked.value;
  if (isMarked && rendered.status === "fulfilled" && batch.state === "open") {
    for (const [n, mail] of mails.entries()) mail.rendered = rendered.value[n]!;
    return;
  }
  group.mails = [];
  batch.putBack(mails);
  if (marked.status === "rejected") throw marked.reason;
  if (!isMarked) batch.leaseLost();
  // Marked but not handed over; releasing the lease records that in the database.
  else batch.end();
  if (rendered.status === "rejected") {
    context.claims.skip(batch.campaign.campaign_id);
    throw rendered.reason;
  }
};

/**
 * Rendering never throws for a single recipient: an email that cannot be rendered has a reason, here or when it is
 * rendered later.
 */
const makeReady: GroupStep = ({ batch, mails }) => {
  for (const mail of mails) {
    const rendered = mail.rendered!;
    if (typeof rendered !== "function") batch.noteMailBytes(memoryOf(rendered));
    if (typeof rendered === "function" || rendered.ok) batch.ready.push(mail);
    else batch.record(mail, notRendered(rendered.error));
  }
};

const BEFORE_SMTP: readonly GroupStep[] = [
  recheckStale,
  suppressIneligible,
  takeHourTokens,
  takeDomainTokens,
  markAndRender,
  makeReady,
];

/** Throws if the database, the limiter or the renderer is unavailable; the rows are then back in their source. */
export async function prepareGroup(group: Group): Promise<void> {
  for (const step of BEFORE_SMTP) {
    if (group.mails.length === 0) return;
    await step(group);
  }
}

/** A finished transaction and everything else that decides. */
interface Answer {
  readonly mail: Mail;
  readonly result: TransactionResult;
  readonly connection: Pick<Connection, "accepted" | "openedAtMs">;
  readonly health: ServerHealth;
  readonly backOffs: DomainBackOffs;
  readonly retryBaseMs: number;
}

/** The next thing to happen to the email. */
type Fate =
  /** Send by another session, at once or after the server's `pause`. */
  | { kind: "again"; pause?: string }
  /** Accepted: its copies are sent before that is recorded. */
  | { kind: "sendCopies"; reply: Reply }
  /** The transaction carried copies of an email. */
  | { kind: "copyAnswered" }
  /** Final result. `isUsed`: accepted, or possibly accepted. */
  | { kind: "record"; outcome: Outcome; delayMs: number | null; isUsed: boolean };

/** `endsSession`: the session cannot be used any more. */
export type Decision = Fate & { endsSession?: boolean };

/** Undefined: the next step decides. */
type AnswerStep = (answer: Answer) => Decision | undefined;

const hadAccepted = ({ connection }: Answer): boolean => connection.accepted > 0;

/** Says nothing about the server. The batch records it or puts it back. */
const returnWithdrawn: AnswerStep = ({ result }) =>
  result.kind === "unsent" && result.withdrawn ? { kind: "again" } : undefined;

const giveToAnotherConnection: AnswerStep = (answer) => {
  const { mail, result } = answer;
  if (result.kind !== "unsent" || !hadAccepted(answer) || ++mail.endedSessions >= MAX_SESSIONS_PER_MAIL)
    return undefined;
  return { kind: "again" };
};

const replaceUsedUpSession: AnswerStep = (answer) => {
  const { mail, result } = answer;
  if (result.kind !== "refused" || !hadAccepted(answer) || !isSessionUsedUp(result)) return undefined;
  // An email is not recorded while its copies are in progress, so copies must not wait indefinitely for another session.
  if (mail.copyOf && ++mail.endedSessions >= MAX_SESSIONS_PER_MAIL) return undefined;
  return { kind: "again", endsSession: true };
};

/** Defers the recipient and throttles its domain; no other mail waits. */
const slowDownDomain: AnswerStep = (answer) => {
  const { mail, result, connection, backOffs } = answer;
  // A server that tests new clients (Postfix's postscreen) answers 450 until the session ends, even once the client has
  // passed: in a session that has accepted nothing, a reply counts as old as the session.
  const sinceMs = hadAccepted(answer) ? mail.handedAtMs : connection.openedAtMs;
  if (mail.copyOf || !backOffs.deferred(recipientDomain(mail.row), result, sinceMs)) return undefined;
  return { ...recordOutcome(answer)!, endsSession: !hadAccepted(answer) };
};

/** Not counted as a try: the email only revealed the server's state. */
const pauseUnavailableServer: AnswerStep = ({ result, health }) => {
  const reason = health.reasonToPause(result);
  return reason === undefined ? undefined : { kind: "again", pause: reason };
};

const finishCopies: AnswerStep = ({ mail }) => (mail.copyOf ? { kind: "copyAnswered" } : undefined);

const sendCopiesFirst: AnswerStep = ({ mail, result }) =>
  result.kind === "accepted" && mail.copies?.messages.length ? { kind: "sendCopies", reply: result.reply } : undefined;

const recordOutcome: AnswerStep = ({ mail, result, retryBaseMs }) => {
  const { batch, row } = mail;
  // The claim of a retry has already counted this try.
  const tries = row.attempts + (batch.chunk ? 1 : 0);
  const tried = { tries, isTransactional: batch.campaign.is_transactional };
  const outcome = row.copy_no === undefined ? outcomeOf(result, tried) : copyOutcome(result, tried);
  const delayMs = outcome.status === "deferred" ? deferredForMs(tries, retryBaseMs) : null;
  return { kind: "record", outcome, delayMs, isUsed: result.kind === "accepted" || result.kind === "doubt" };
};

const AFTER_SMTP: readonly AnswerStep[] = [
  returnWithdrawn,
  giveToAnotherConnection,
  replaceUsedUpSession,
  slowDownDomain,
  pauseUnavailableServer,
  finishCopies,
  sendCopiesFirst,
  recordOutcome,
];

/** Result of the first step that decides. */
export function decide(answer: Answer): Decision {
  for (const step of AFTER_SMTP) {
    const decision = step(answer);
    if (decision) return decision;
  }
  throw new Error("No step has decided");
}
