/** Shapes of a parsed report: what it says about each recipient. All sources produce these. */

/**
 * `ignored`: no bounce and no complaint (a delay, an automatic reply, a challenge, a change of address, or no report at
 * all).
 */
export type VerdictKind = "hard" | "soft" | "block" | "complaint" | "ignored";

export interface Verdict {
  kind: VerdictKind;
  /** Stable name of the rule that matched, such as `mailbox-unknown`, `mailbox-full`, `delayed`, `automatic-reply`. */
  reason: string;
  /** Reported recipient, its domain in lower case; null if none is named. */
  recipient: string | null;
  /** The named person was erased; `recipient` is null. */
  isErased?: boolean;
  /** Further addresses of the same recipient, such as the target of an alias. */
  otherRecipients?: string[];
  /** RFC 3463 code such as `5.1.1`; null if there is none. */
  statusCode: string | null;
  /** Text of the refusing server on one line, at most 1,000 characters. */
  diagnostic: string | null;
}

export interface Report {
  /** Verdicts, one per reported recipient, 1 to 100. */
  verdicts: Verdict[];
  /** Message-ID of the returned message, without angle brackets. */
  returnedMessageId: string | null;
  /** Recipients of the report itself: To, Delivered-To, X-Original-To and similar. One may hold a bounce token. */
  addressedTo: string[];
  /** Format or server that wrote the report, for metrics and tests: `rfc3464`, `qmail`, `exim`, `arf`. */
  dialect: string;
}
