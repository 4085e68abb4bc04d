/**
 * The life of a mail, from its row to its recorded outcome. Read the two lists: BEFORE_SMTP runs for a group of mails at a
 * time, because each group costs two statements; AFTER_SMTP decides what becomes of a mail when its transaction is over.
 * Between them the mail waits in `batch.ready` until a connection asks for it (server/server.ts).
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
  /** Mails that have passed the steps so far. */
  mails: Mail[];
}

type GroupStep = (group: Group) => void | Promise<void>;

const rowsOf = (mails: readonly Mail[]) => mails.map(({ row }) => row);

/** Rows may have waited in their source. */
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

/** Mails for which the company's hour, or the configuration's day, has no room go back to the source. */
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
  batch.waitForRoom(grant);
};

/** Mails for which their domain has no room wait in their rows, and do not count as tried. */
const takeDomainRoom: GroupStep = async (group) => {
  const { batch, granters, mails } = group;
  if (!granters.domains.active) return;
  const admissions = await granters.domains.admit(rowsOf(mails), batch.campaign.is_transactional);
  const postponed: { mail: Mail; ms: number }[] = [];
  group.mails = mails.filter((mail, n) => {
    const admission = admissions[n]!;
    if ("room" in admission) mail.permit.grantDomain(admission.room);
    else postponed.push({ mail, ms: admission.postponedMs });
    return "room" in admission;
  });
  Permit.giveBack(postponed.map(({ mail }) => mail.permit));
  for (const { mail, ms } of postponed) batch.record(mail, QUEUED, ms);
};

/**
 * Marks these in the database as possibly handed over, before any is handed over. At the same time the renderer compiles the
 * campaign, and makes the mails that are signed.
 */
const markAndRender: GroupStep = async (group) => {
  const { batch, context, connections, mails } = group;
  const [marked, rendered] = await Promise.allSettled([
    batch.source.mark(mails.at(-1)!.row.seq, batch.ready.length < 2 * connections),
    context.outputs.render(batch.campaign.campaign_id, rowsOf(mails)),
  ]);
  const held = marked.status === "fulfilled" && marked.value;
  if (held && rendered.status === "fulfilled" && batch.state === "open") {
    for (const [n, mail] of mails.entries()) mail.rendered = rendered.value[n]!;
    return;
  }
  group.mails = [];
  batch.putBack(mails);
  if (marked.status === "rejected") throw marked.reason;
  if (!held) batch.leaseLost();
  // They were marked and not handed over: giving the lease back says so in the database.
  else batch.end();
  if (rendered.status === "rejected") {
    context.claims.skip(batch.campaign.campaign_id);
    throw rendered.reason;
  }
};

/** Rendering never throws for one recipient: a mail that cannot be rendered says why, here or when it is made. */
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
  takeDomainRoom,
  markAndRender,
  makeReady,
];

/** Throws when the database, the limiter or the renderer is away; the rows are back in their source then. */
export async function prepareGroup(group: Group): Promise<void> {
  for (const step of BEFORE_SMTP) {
    if (group.mails.length === 0) return;
    await step(group);
  }
}

/** A transaction that is over, and what else decides. */
interface Answer {
  readonly mail: Mail;
  readonly result: TransactionResult;
  readonly connection: Pick<Connection, "accepted" | "openedAtMs">;
  readonly health: ServerHealth;
  readonly backOffs: DomainBackOffs;
  readonly retryBaseMs: number;
}

/** The next thing to happen to the mail. */
type Fate =
  /** Another session gets it, at once or, where the server is to be left alone for a `pause`, after that. */
  | { kind: "again"; pause?: string }
  /** It was accepted, and its copies go out before that is recorded. */
  | { kind: "sendCopies"; reply: Reply }
  /** It is a transaction with copies of a mail. */
  | { kind: "copyAnswered" }
  /** `isUsed`: it was accepted, or may have been. */
  | { kind: "record"; outcome: Outcome; delayMs: number | null; isUsed: boolean };

/** `endsSession`: the session is of no use any more. */
export type Decision = Fate & { endsSession?: boolean };

/** Undefined: the next step decides. */
type AnswerStep = (answer: Answer) => Decision | undefined;

const hadAccepted = ({ connection }: Answer): boolean => connection.accepted > 0;

/** Says nothing about the server. Its batch records it, or puts it back. */
const takeBackWithdrawn: AnswerStep = ({ result }) =>
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
  // While its copies are under way a mail is not recorded: they may not wait for ever for a session that takes them.
  if (mail.copyOf && ++mail.endedSessions >= MAX_SESSIONS_PER_MAIL) return undefined;
  return { kind: "again", endsSession: true };
};

/** The recipient is deferred, its domain is slowed down, and no other mail waits. */
const slowDownDomain: AnswerStep = (answer) => {
  const { mail, result, connection, backOffs } = answer;
  // A server that tests new clients (Postfix's postscreen) answers 450 until the session ends, even after the client has
  // passed: an answer in a session that has accepted nothing is as old as the session.
  const sinceMs = hadAccepted(answer) ? mail.handedAtMs : connection.openedAtMs;
  if (mail.copyOf || !backOffs.deferred(recipientDomain(mail.row), result, sinceMs)) return undefined;
  return { ...recordOutcome(answer)!, endsSession: !hadAccepted(answer) };
};

/** The mail merely revealed it, so this does not count as a try. */
const pauseUnavailableServer: AnswerStep = ({ result, health }) => {
  const reason = health.reasonToPause(result);
  return reason === undefined ? undefined : { kind: "again", pause: reason };
};

const finishCopies: AnswerStep = ({ mail }) => (mail.copyOf ? { kind: "copyAnswered" } : undefined);

const sendCopiesFirst: AnswerStep = ({ mail, result }) =>
  result.kind === "accepted" && mail.copies?.messages.length ? { kind: "sendCopies", reply: result.reply } : undefined;

const recordOutcome: AnswerStep = ({ mail, result, retryBaseMs }) => {
  const { batch, row } = mail;
  // The claim of a retry has counted this try already.
  const tries = row.attempts + (batch.chunk ? 1 : 0);
  const tried = { tries, isTransactional: batch.campaign.is_transactional };
  const outcome = row.copy_no === undefined ? outcomeOf(result, tried) : copyOutcome(result, tried);
  const delayMs = outcome.status === "deferred" ? deferredForMs(tries, retryBaseMs) : null;
  return { kind: "record", outcome, delayMs, isUsed: result.kind === "accepted" || result.kind === "doubt" };
};

const AFTER_SMTP: readonly AnswerStep[] = [
  takeBackWithdrawn,
  giveToAnotherConnection,
  replaceUsedUpSession,
  slowDownDomain,
  pauseUnavailableServer,
  finishCopies,
  sendCopiesFirst,
  recordOutcome,
];

/** The first step that decides. */
export function decide(answer: Answer): Decision {
  for (const step of AFTER_SMTP) {
    const decision = step(answer);
    if (decision) return decision;
  }
  throw new Error("No step has decided");
}
