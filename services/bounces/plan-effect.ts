/**
 * Decides what a verdict changes on a locked message. Pure: it works on the rows it is given and updates them in
 * memory, so that the next copy of the same report has no effect.
 *
 *   verdict     new status by old status              further effects
 *   hard        sent, unknown, failed: bounced        event, suppression, subscriber bounced
 *   soft        sent, unknown: bounced                event; the fifth in a row without a delivery suppresses
 *   block       sent, unknown: bounced                event
 *   complaint   unknown: sent                         event, suppression, subscriber complained
 *
 * A queued message keeps its status: the sender checks suppressions before it sends. The sent counter does not change,
 * because it counts messages that the server accepted.
 *
 * A bounce of a copy (cc, bcc) changes only the row of that copy, as a refusal during sending does. A complaint about a
 * copy suppresses its address as for any recipient.
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
  /** Null once the person was erased. */
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
  /** Address of the message's recipient or of one of its copies. */
  recipient: string;
  /** The status was `unknown` before. */
  settles: boolean;
  /** The status becomes `bounced`. */
  bounces: boolean;
  /** True if the mail was counted as delivered before. */
  wasDelivered: boolean;
  copy: LockedCopy | null;
  event: "bounced" | "complained" | null;
}

interface Plan {
  recipient: string | null;
  matched: boolean;
  effect: Effect | null;
}

const UNMATCHED: Plan = { recipient: null, matched: false, effect: null };

/** Events of an earlier attempt (before a resume) do not count for the message sent since. */
const isRecorded = (mail: LockedMail, type: string, kind: string | null, recipient: string): boolean =>
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

function complaint(mail: LockedMail, verdict: Verdict, recipient: string): Plan {
  const settles = mail.status === unknown && sameAddress(recipient, mail.email ?? "");
  if (isRecorded(mail, "complained", null, recipient)) return { recipient, matched: true, effect: null };
  note(mail, "complained", null, recipient);
  if (settles) Object.assign(mail, { status: sent, sent_at: new Date(0) });
  const unchanged = { bounces: false, wasDelivered: false, copy: null };
  return { recipient, matched: true, effect: { mail, verdict, recipient, settles, ...unchanged, event: "complained" } };
}

function bounceOfCopy(mail: LockedMail, verdict: Verdict, copy: LockedCopy): Plan {
  const recipient = copy.email;
  if (copy.status === bounced) return { recipient, matched: true, effect: null };
  copy.status = bounced;
  const unchanged = { settles: false, bounces: false, wasDelivered: false, event: null };
  return { recipient, matched: true, effect: { mail, verdict, recipient, copy, ...unchanged } };
}

function bounce(mail: LockedMail, verdict: Verdict, recipient: string): Plan {
  if (isRecorded(mail, "bounced", verdict.kind, recipient)) return { recipient, matched: true, effect: null };
  note(mail, "bounced", verdict.kind, recipient);
  const settles = mail.status === unknown;
  const wasDelivered = settles || mail.status === sent;
  const bounces = wasDelivered || (mail.status === failed && verdict.kind === "hard");
  if (settles) mail.sent_at = new Date(0);
  if (bounces) mail.status = bounced;
  const effect: Effect = { mail, verdict, recipient, settles, bounces, wasDelivered, copy: null, event: "bounced" };
  return { recipient, matched: true, effect };
}

/** Ways to find the message of a report, most reliable first. */
export type MatchedBy = "token" | "token of copies" | "Message-ID" | "recipient";

/**
 * Returns the recipient that the verdict is about, or null if it is about none or ambiguous. A report may name a
 * forwarding target: a match by token or Message-ID then also decides the recipient.
 */
function recipientOf(
  { email, copies }: LockedMail,
  verdict: Verdict,
  matchedBy: MatchedBy,
): string | LockedCopy | null {
  const { recipient: named, isErased = false } = verdict;
  const copy = named === null ? undefined : copies.find((one) => sameAddress(one.email, named));
  if (email !== null && named !== null && sameAddress(email, named) && matchedBy !== "token of copies") return email;
  if (copy) return copy;
  if (matchedBy === "token") return email;
  if (matchedBy === "token of copies") return copies.length === 1 ? copies[0]! : null;
  if (matchedBy === "recipient" || isErased) return null;
  return named === null || copies.length === 0 ? email : null;
}

export function planEffect(mail: LockedMail, verdict: Verdict, matchedBy: MatchedBy): Plan {
  const about = recipientOf(mail, verdict, matchedBy);
  if (about === null) return UNMATCHED;
  const recipient = typeof about === "string" ? about : about.email;
  if (verdict.kind === "ignored") return { recipient, matched: true, effect: null };
  if (verdict.kind === "complaint") return complaint(mail, verdict, recipient);
  return typeof about === "string" ? bounce(mail, verdict, about) : bounceOfCopy(mail, verdict, about);
}
