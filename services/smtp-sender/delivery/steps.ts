/**
 * The life of a mail, from its row to its recorded outcome. Read the two lists: BEFORE_SMTP runs for a group of recipients
 * at a time, because each group costs two statements; AFTER_SMTP runs for each mail when its transaction is over.
 * Between them the mail waits in `batch.ready` until a connection asks for it (transport/).
 */
import { performance } from "node:perf_hooks";
import type { MakeMail, Rendered } from "../../renderer/contract.ts";
import type { DomainRoom } from "../domains/domain-gate.ts";
import type { EngineContext } from "../engine/context.ts";
import { smtpAnswered } from "../engine/metrics.ts";
import type { HourToken } from "../limits/hour-limit.ts";
import type { Reply } from "../smtp/replies.ts";
import type { TransactionResult } from "../smtp/transaction.ts";
import { deferredForMs, MAX_SESSIONS_PER_MAIL } from "./back-off.ts";
import type { Batch, BatchHost, Mail } from "./batch.ts";
import { copyOutcome, mailsOf } from "./copies.ts";
import { type Outcome, outcomeOf, QUEUED } from "./outcome.ts";
import { memoryOf, notRendered } from "./prepared-mail.ts";
import { isSessionUsedUp } from "./refusals.ts";
import type { RecipientRow } from "./rows.ts";
import { mailAnswered } from "./spans.ts";
import { checkAgain, outcomeUnsent, RECHECK_AFTER_MS } from "./suppression.ts";

interface Group {
  readonly batch: Batch;
  readonly host: BatchHost;
  readonly context: EngineContext;
  /** Those that have passed the steps so far. */
  rows: RecipientRow[];
  /** When the oldest of them was read, by the monotonic clock. */
  checkedAtMs: number;
  /** One for each of them. */
  tokens?: HourToken[];
  /** One for each of them, where a domain has a limit. */
  rooms?: (DomainRoom | undefined)[];
  mails?: (Rendered | MakeMail)[];
}

type GroupStep = (group: Group) => void | Promise<void>;

/** Rows may have waited in their source. */
const recheckStale: GroupStep = async (group) => {
  const { batch, context, rows } = group;
  const now = performance.now();
  if (now - group.checkedAtMs < RECHECK_AFTER_MS) return;
  await checkAgain(context.reads, batch.campaign, rows).catch((error) => {
    batch.putBack(rows);
    throw error;
  });
  group.checkedAtMs = now;
};

const suppressIneligible: GroupStep = (group) => {
  const { batch, rows } = group;
  group.rows = rows.filter((row) => {
    const unsent = outcomeUnsent(row, batch.campaign);
    if (unsent) batch.record(row, unsent);
    return !unsent;
  });
};

/** Those for whom the company's hour, or the configuration's day, has no room go back to the source. */
const takeHourTokens: GroupStep = async (group) => {
  const { batch, context, rows } = group;
  const grant = await batch.hour.take(rows.map(mailsOf)).catch((error) => {
    batch.putBack(rows);
    const { company_id, smtp_config_id, smtp_per_hour } = batch.campaign;
    if (smtp_per_hour !== null) context.limitsUnknown(company_id, smtp_config_id);
    throw error;
  });
  const { tokens } = grant;
  group.rows = rows.slice(0, tokens.length);
  group.tokens = tokens;
  if (tokens.length === rows.length) return;
  batch.putBack(rows.slice(tokens.length));
  batch.waitForRoom(grant);
};

/** Those for whom their domain has no room wait in their rows, and do not count as tried. */
const takeDomainRoom: GroupStep = async (group) => {
  const { batch, host, rows } = group;
  if (!host.domains.active) return;
  const tokens = group.tokens!;
  const admissions = await host.domains.admit(rows, batch.campaign.is_transactional);
  const postponed: HourToken[] = [];
  group.rows = [];
  group.rooms = [];
  group.tokens = [];
  for (const [n, admission] of admissions.entries()) {
    if ("room" in admission) {
      group.rows.push(rows[n]!);
      group.rooms.push(admission.room);
      group.tokens.push(tokens[n]!);
    } else {
      postponed.push(tokens[n]!);
      batch.record(rows[n]!, QUEUED, admission.postponedMs);
    }
  }
  void batch.hour.give(...postponed);
};

/**
 * The mark says in the database, before anything is handed over, that these may have been handed over. Meanwhile the renderer
 * compiles the campaign, and makes the mails that are signed.
 */
const markAndRender: GroupStep = async (group) => {
  const { batch, host, context, rows } = group;
  const [marked, rendered] = await Promise.allSettled([
    batch.source.mark(rows.at(-1)!.seq, batch.ready.length < 2 * host.connectionCount),
    context.render(batch.campaign.campaign_id, rows),
  ]);
  const held = marked.status === "fulfilled" && marked.value;
  if (held && rendered.status === "fulfilled" && batch.state === "open") {
    group.mails = rendered.value;
    return;
  }
  group.rows = [];
  void batch.hour.give(...group.tokens!);
  host.domains.give(...(group.rooms ?? []));
  batch.putBack(rows);
  if (marked.status === "rejected") throw marked.reason;
  if (!held) batch.leaseLost();
  // They were marked and not handed over: giving the lease back says so in the database.
  else batch.end();
  if (rendered.status === "rejected") {
    context.skipCampaign(batch.campaign.campaign_id);
    throw rendered.reason;
  }
};

/** Rendering never throws for one recipient: a mail that cannot be rendered says why, here or when it is made. */
const makeReady: GroupStep = ({ batch, host, rows, mails, tokens, rooms, checkedAtMs }) => {
  for (const [i, row] of rows.entries()) {
    const mail = mails![i]!;
    const token = tokens![i]!;
    const room = rooms?.[i];
    if (typeof mail !== "function") host.noteMailBytes(memoryOf(mail));
    if (typeof mail === "function" || mail.ok) {
      batch.ready.push({ row, mail, token, room, checkedAtMs, endedSessions: 0 });
    } else {
      void batch.hour.give(token);
      host.domains.give(room);
      batch.record(row, notRendered(mail.error));
    }
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
    if (group.rows.length === 0) return;
    await step(group);
  }
}

/** What the steps after a transaction ask of the transport. */
export interface AnswerEffects {
  /** Sends the copies for cc and bcc; their mail is answered when that is over. */
  sendCopies(mail: Mail, accepted: Reply): void;
  sendCopyAgain(copy: Mail): void;
  copyAnswered(copy: Mail, result: TransactionResult): void;
  stopCampaignOf(batch: Batch, error: string): void;
  /**
   * It deferred a mail for its recipient's domain, and takes the mail of others. `sinceMs`: of what time the answer is, by the
   * monotonic clock.
   */
  isDeferralOfDomain(mail: Mail, result: TransactionResult, sinceMs: number): boolean;
  /** Why the server is to be left alone after this result; undefined where it is not. */
  reasonToPause(result: TransactionResult): string | undefined;
  pauseServer(reason: string): void;
}

interface Answer {
  readonly mail: Mail;
  readonly result: TransactionResult;
  readonly session: {
    /** It had accepted mail: it ended for a limit or a time-out, not because the server refuses everything. */
    readonly hadAccepted: boolean;
    readonly openedAtMs: number;
    quit(): void;
  };
  readonly effects: AnswerEffects;
  readonly retryBaseMs: number;
  outcome?: Outcome;
}

/** True: nothing more is to be done. */
type AnswerStep = (answer: Answer) => boolean;

const measureDuration: AnswerStep = ({ mail, result }) => {
  smtpAnswered(result.kind, (performance.now() - mail.handedAtMs) / 1_000);
  return false;
};

const traceTransaction: AnswerStep = ({ mail, result, session }) => {
  mailAnswered(mail, result, !session.hadAccepted);
  return false;
};

const again = ({ mail, effects }: Answer): void => {
  if (mail.copyOf) effects.sendCopyAgain(mail);
  else mail.batch.again(mail);
};

const giveToAnotherConnection: AnswerStep = (answer) => {
  const { mail, result, session } = answer;
  if (result.kind !== "unsent" || !session.hadAccepted || ++mail.endedSessions >= MAX_SESSIONS_PER_MAIL) return false;
  again(answer);
  return true;
};

const replaceUsedUpSession: AnswerStep = (answer) => {
  const { mail, result, session } = answer;
  if (result.kind !== "refused" || !session.hadAccepted || !isSessionUsedUp(result)) return false;
  // While its copies are under way a mail is not recorded: they may not wait for ever for a session that takes them.
  if (mail.copyOf && ++mail.endedSessions >= MAX_SESSIONS_PER_MAIL) return false;
  session.quit();
  again(answer);
  return true;
};

/** The mail merely revealed it, so this does not count as a try. */
const pauseUnavailableServer: AnswerStep = (answer) => {
  const { mail, result, session, effects } = answer;
  // A server that only looks at newcomers (Postfix's postscreen) answers 450 until the session ends, whatever it has thought of
  // the client meanwhile: what a session says that has accepted nothing is as old as the session.
  const sinceMs = session.hadAccepted ? mail.handedAtMs : session.openedAtMs;
  if (!mail.copyOf && effects.isDeferralOfDomain(mail, result, sinceMs)) {
    // The recipient is deferred, and its domain slowed.
    if (!session.hadAccepted) session.quit();
    return false;
  }
  const reason = effects.reasonToPause(result);
  if (reason === undefined) return false;
  again(answer);
  effects.pauseServer(reason);
  return true;
};

const finishCopies: AnswerStep = ({ mail, result, effects }) => {
  if (mail.copyOf) effects.copyAnswered(mail, result);
  return mail.copyOf !== undefined;
};

const sendCopiesFirst: AnswerStep = ({ mail, result, effects }) => {
  if (result.kind !== "accepted" || !mail.copies?.messages.length) return false;
  effects.sendCopies(mail, result.reply);
  return true;
};

const recordOutcome: AnswerStep = (answer) => {
  const { mail, result, retryBaseMs } = answer;
  const { batch, row } = mail;
  // The claim of a retry has counted this try already.
  const tries = row.attempts + (batch.chunk ? 1 : 0);
  const tried = { tries, isTransactional: batch.campaign.is_transactional };
  const outcome = row.copy_no === undefined ? outcomeOf(result, tried) : copyOutcome(result, tried);
  const delayMs = outcome.status === "deferred" ? deferredForMs(tries, retryBaseMs) : null;
  const accepted = result.kind === "accepted";
  batch.answered(mail, outcome, delayMs, accepted || result.kind === "doubt", accepted ? mail.copies?.suppressed : []);
  answer.outcome = outcome;
  return false;
};

const stopCampaignOfRefusedSender: AnswerStep = ({ mail, outcome, effects }) => {
  if (outcome!.stops) effects.stopCampaignOf(mail.batch, outcome!.stops);
  return false;
};

const AFTER_SMTP: readonly AnswerStep[] = [
  measureDuration,
  traceTransaction,
  giveToAnotherConnection,
  replaceUsedUpSession,
  pauseUnavailableServer,
  finishCopies,
  sendCopiesFirst,
  recordOutcome,
  stopCampaignOfRefusedSender,
];

export function takeAnswer(answer: Answer): void {
  for (const step of AFTER_SMTP) if (step(answer)) return;
}
