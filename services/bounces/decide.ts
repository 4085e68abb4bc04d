/**
 * What a verdict does to a mail that is locked, by one table for every way in. Pure: it decides on rows as they were read,
 * and notes in them what it has decided, so that the next copy of the same report finds it done.
 *
 *   kind        the mail's status                     further
 *   hard        sent, unknown, failed: bounced        event, suppression, subscriber bounced
 *   soft        sent, unknown: bounced                event; the fifth in a row with nothing delivered between suppresses
 *   block       sent, unknown: bounced                event
 *   complaint   unknown: sent                         event, suppression, subscriber complained
 *
 * A mail that is queued for another try keeps its status: its sender asks for suppressions before it sends. Counters stay:
 * sent is what the server took.
 *
 * A copy (cc, bcc) that bounces changes its own row and nothing else, as when a server refuses it; one that is complained
 * about is suppressed like any recipient.
 */
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { sameAddress } from "../lib/address.ts";
import type { Verdict } from "./verdict.ts";

const { sent, failed, bounced, unknown } = SENT_EMAIL_STATUS;

export interface LockedMail {
  id: string;
  message_id: string;
  company_id: string;
  campaign_id: string;
  campaign_no: number;
  seq: number;
  status: number;
  sent_at: Date | null;
  /** Null where nobody knows the address any more: the person was erased. */
  email: string | null;
  copies: LockedCopy[];
  earlier: EarlierEvent[];
}

export interface LockedCopy {
  campaign_id: string;
  seq: number;
  no: number;
  email: string;
  status: number;
}

export interface EarlierEvent {
  sent_email_id: string;
  type: string;
  recipient: string;
  kind: string | null;
  created_at: Date;
}

export interface Effect {
  mail: LockedMail;
  verdict: Verdict;
  /** Whose mail it was: of the mail itself, or of one of its copies. */
  recipient: string;
  /** Was `unknown` until now. */
  settles: boolean;
  /** Becomes `bounced`. */
  bounces: boolean;
  /** Counted as delivered until now. */
  wasDelivered: boolean;
  copy: LockedCopy | null;
  event: "bounced" | "complained" | null;
}

interface Decided {
  recipient: string | null;
  matched: boolean;
  effect: Effect | null;
}

const UNMATCHED: Decided = { recipient: null, matched: false, effect: null };

/** What was said of an earlier try (before a resume) says nothing about the mail that went out since. */
const isSaid = (mail: LockedMail, type: string, kind: string | null, recipient: string): boolean =>
  mail.status !== unknown &&
  mail.earlier.some(
    (event) =>
      event.type === type &&
      event.kind === kind &&
      sameAddress(event.recipient, recipient) &&
      event.created_at >= (mail.sent_at ?? event.created_at),
  );

function note(mail: LockedMail, type: string, kind: string | null, recipient: string): void {
  mail.earlier.push({ sent_email_id: mail.id, type, kind, recipient, created_at: new Date() });
}

function complaint(mail: LockedMail, verdict: Verdict, recipient: string): Decided {
  const settles = mail.status === unknown && sameAddress(recipient, mail.email ?? "");
  if (isSaid(mail, "complained", null, recipient)) return { recipient, matched: true, effect: null };
  note(mail, "complained", null, recipient);
  if (settles) Object.assign(mail, { status: sent, sent_at: new Date(0) });
  const unchanged = { bounces: false, wasDelivered: false, copy: null };
  return { recipient, matched: true, effect: { mail, verdict, recipient, settles, ...unchanged, event: "complained" } };
}

function bounceOfCopy(mail: LockedMail, verdict: Verdict, copy: LockedCopy): Decided {
  const recipient = copy.email;
  if (copy.status === bounced) return { recipient, matched: true, effect: null };
  copy.status = bounced;
  const unchanged = { settles: false, bounces: false, wasDelivered: false, event: null };
  return { recipient, matched: true, effect: { mail, verdict, recipient, copy, ...unchanged } };
}

function bounce(mail: LockedMail, verdict: Verdict, recipient: string): Decided {
  if (isSaid(mail, "bounced", verdict.kind, recipient)) return { recipient, matched: true, effect: null };
  note(mail, "bounced", verdict.kind, recipient);
  const settles = mail.status === unknown;
  const wasDelivered = settles || mail.status === sent;
  const bounces = wasDelivered || (mail.status === failed && verdict.kind === "hard");
  if (settles) mail.sent_at = new Date(0);
  if (bounces) mail.status = bounced;
  const effect: Effect = { mail, verdict, recipient, settles, bounces, wasDelivered, copy: null, event: "bounced" };
  return { recipient, matched: true, effect };
}

/** What has led to a mail; the surer ones first. */
export type Sign = "token" | "token of copies" | "Message-ID" | "recipient";

/**
 * Which of the mail's recipients a verdict is about. Null: it is about none, or there is no telling which. A report may name
 * the address that the mail was forwarded to; whatever says which mail it is then says whose it is, too.
 */
function recipientOf({ email, copies }: LockedMail, verdict: Verdict, sign: Sign): string | LockedCopy | null {
  const { recipient: named, isErased = false } = verdict;
  const copy = named === null ? undefined : copies.find((one) => sameAddress(one.email, named));
  if (email !== null && named !== null && sameAddress(email, named) && sign !== "token of copies") return email;
  if (copy) return copy;
  if (sign === "token") return email;
  if (sign === "token of copies") return copies.length === 1 ? copies[0]! : null;
  if (sign === "recipient" || isErased) return null;
  return named === null || copies.length === 0 ? email : null;
}

export function decide(mail: LockedMail, verdict: Verdict, sign: Sign): Decided {
  const about = recipientOf(mail, verdict, sign);
  if (about === null) return UNMATCHED;
  const recipient = typeof about === "string" ? about : about.email;
  if (verdict.kind === "ignored") return { recipient, matched: true, effect: null };
  if (verdict.kind === "complaint") return complaint(mail, verdict, recipient);
  return typeof about === "string" ? bounce(mail, verdict, about) : bounceOfCopy(mail, verdict, about);
}
