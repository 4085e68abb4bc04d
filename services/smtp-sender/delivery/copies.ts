/**
 * Decides who gets a copy (cc, bcc) of an email, in which transactions, and what each result means. Pure.
 *
 * Once the email is accepted, its copies are sent in a separate transaction: in several if the server accepts fewer
 * recipients at a time, and in a separate one for addresses that need SMTPUTF8, so that a server without it refuses no
 * other copy. Results are recorded together with the email. A deferred copy is retried individually, as a recipient of
 * its own.
 */
import { type CopyAddress, copyAddresses } from "../../../models/sent-email-copy.ts";
import type { Reply } from "../smtp/replies.ts";
import type { RefusedStage, TransactionResult } from "../smtp/transaction.ts";
import { deferredForMs } from "./back-off.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { isTooManyRecipients } from "./refusals.ts";
import type { RecipientRow } from "./rows.ts";
import { suppressionSentence } from "./suppression.ts";

export interface CopyOutcome extends CopyAddress {
  outcome: Outcome;
  /** Tries made so far. */
  attempts: number;
  /** Queued: delay until the next try. */
  delayMs: number | null;
}

/** Splits an email's copies into those that may be sent, as of its row's last check, and outcomes for the others. */
export function allowedCopies(
  row: RecipientRow,
  copies: readonly CopyAddress[] = copyAddresses(row),
): { allowed: CopyAddress[]; suppressed: CopyOutcome[] } {
  const allowed: CopyAddress[] = [];
  const suppressed: CopyOutcome[] = [];
  for (const copy of copies) {
    const kind = row.blocked_copies?.[copy.email];
    if (kind === undefined) allowed.push(copy);
    else {
      const outcome: Outcome = { status: "suppressed", error: suppressionSentence(kind), reply: null };
      suppressed.push({ ...copy, outcome, attempts: 0, delayMs: null });
    }
  }
  return { allowed, suppressed };
}

/** Number of emails for a recipient: its own and its copies. */
export const mailsOf = (row: RecipientRow): number => (row.cc || row.bcc ? 1 + allowedCopies(row).allowed.length : 1);

/** Not tried, or failed for an unrelated reason: due at once. */
export const untriedCopy = (copy: CopyAddress): CopyOutcome => ({
  ...copy,
  outcome: { status: "queued", error: null, reply: null },
  attempts: 0,
  delayMs: 0,
});

interface Tried {
  tries: number;
  isTransactional: boolean;
}

/**
 * A copy's result never affects its email or the campaign: no bounce event, no suppression, and a sender address refused
 * now was accepted for the email itself.
 */
export function copyOutcome(result: TransactionResult, tried: Tried): Outcome {
  const { status, error, reply, stops } = outcomeOf(result, tried);
  return stops ? { status: "failed", error: stops, reply } : { status, error, reply };
}

interface FirstTransaction {
  /** Addresses of the transaction, in wire form. */
  to: readonly string[];
  copies: readonly CopyAddress[];
  isTransactional: boolean;
  retryBaseMs: number;
}

/** Outcomes of the copies in an email's first transaction. `rest`: copies to send again at once. */
export function copyOutcomes(
  result: TransactionResult,
  { to, copies, isTransactional, retryBaseMs }: FirstTransaction,
): { outcomes: CopyOutcome[]; rest: CopyAddress[] } {
  const refusals = result.kind === "accepted" || result.kind === "refused" ? (result.refused ?? []) : [];
  const refusedAt = new Map<string, Reply>(refusals.map((refusal) => [refusal.to, refusal.reply]));
  const outcomes: CopyOutcome[] = [];
  const rest: CopyAddress[] = [];
  for (const [n, copy] of copies.entries()) {
    const reply = refusedAt.get(to[n]!);
    if (reply && result.kind === "accepted" && isTooManyRecipients(reply)) {
      rest.push(copy);
      continue;
    }
    const stage: RefusedStage = "rcpt";
    const ownResult: TransactionResult = reply ? { kind: "refused", stage, reply } : result;
    const outcome = copyOutcome(ownResult, { tries: 1, isTransactional });
    outcomes.push({
      ...copy,
      outcome,
      attempts: 1,
      delayMs: outcome.status === "deferred" ? deferredForMs(1, retryBaseMs) : null,
    });
  }
  return { outcomes, rest };
}
