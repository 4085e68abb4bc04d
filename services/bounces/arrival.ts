/** What every way in hands over, and what it gets back. */
import type { InboundResult } from "../../models/inbound-message.ts";
import type { Report } from "./verdict.ts";

/** How a report came: by mail (`smtp`: the listener, `imap`: a mailbox), by the API, or from a provider. */
export const WAYS_IN = ["smtp", "imap", "api", "ses", "sendgrid", "mailgun", "postmark", "sparkpost", "brevo"] as const;
export type Via = (typeof WAYS_IN)[number];

export interface Arrival {
  via: Via;
  /** Whose bounce address, mailbox, inbound source or API key it came by: it says nothing about mails of another company. */
  companyId: string;
  smtpConfigId?: string | null;
  /**
   * The token that it was addressed to, as written. Undefined: one of `report.addressedTo` may carry it. A token decides
   * alone, also one that was made up: then nothing is looked for by other signs.
   */
  token?: string | undefined;
  /** Given by whoever knows it (API, providers' metadata), in place of a token. */
  sentEmailId?: string | undefined;
  /** The same by a mail's Message-ID, without asking for its recipient. */
  messageId?: string | undefined;
  report: Report;
  /**
   * What makes it known again: the source or mailbox that it came by, and its name there. One that was taken in before is
   * left out, and has no answers; the mark is written with the effect.
   */
  once?: { origin: string; key: string } | undefined;
  /** The message as it came; kept 30 days, at most 1 MiB of it. */
  raw?: Uint8Array | undefined;
}

export const MAX_RAW_BYTES = 1024 * 1024;

/** What became of one verdict of a report. */
export interface TakenIn {
  /** Of its row in the list of what came in. */
  id: string;
  result: InboundResult;
  sentEmailId: string | null;
  recipient: string | null;
  bounceType: "hard" | "soft" | "block" | null;
  diagnostic: string | null;
  /** False where the same had been said of this mail before: nothing has changed. */
  changed: boolean;
}

/** `metadata.source` of the event. */
export function sourceOf(via: Via): "dsn" | "api" | "provider" {
  if (via === "smtp" || via === "imap") return "dsn";
  return via === "api" ? "api" : "provider";
}
