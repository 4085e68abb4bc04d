/** Report as every source (SMTP, IMAP, API, provider) hands it to `ingest`, and the result of ingesting it. */
import type { InboundResult } from "../../models/inbound-message.ts";
import type { Report } from "./verdict.ts";

/** Source of a report: the SMTP listener (`smtp`), a mailbox (`imap`), the API, or a provider's webhook. */
export const WAYS_IN = ["smtp", "imap", "api", "ses", "sendgrid", "mailgun", "postmark", "sparkpost", "brevo"] as const;
export type Via = (typeof WAYS_IN)[number];

export interface IncomingReport {
  via: Via;
  /**
   * Owner of the bounce address, mailbox, inbound source or API key. A report never affects messages of another
   * company.
   */
  companyId: string;
  smtpConfigId?: string | null;
  /**
   * Bounce token of the envelope recipient. If undefined, `report.addressedTo` is searched for one. A token, even an
   * invalid one, rules out matching by Message-ID or address.
   */
  token?: string | undefined;
  /** Known to the reporter (API, provider metadata); replaces the token. */
  sentEmailId?: string | undefined;
  /** Replaces the token like `sentEmailId`; the message's recipient is not compared. */
  messageId?: string | undefined;
  report: Report;
  /**
   * Deduplication key: source or mailbox, and the report's key there. It is stored in the same transaction as the
   * effects; a duplicate is skipped and has no results.
   */
  dedupe?: { origin: string; key: string } | undefined;
  /** Original message; the first 1 MiB is kept for 30 days. */
  raw?: Uint8Array | undefined;
}

export const MAX_RAW_BYTES = 1024 * 1024;

/** Result of one verdict of a report. */
export interface IngestResult {
  /** Id of the inbound message. */
  id: string;
  result: InboundResult;
  sentEmailId: string | null;
  recipient: string | null;
  bounceType: "hard" | "soft" | "block" | null;
  diagnostic: string | null;
  /** False if the same verdict had been recorded for this message before. */
  changed: boolean;
}

/** Value of `metadata.source` in the event. */
export function sourceOf(via: Via): "dsn" | "api" | "provider" {
  if (via === "smtp" || via === "imap") return "dsn";
  return via === "api" ? "api" : "provider";
}
