/** What a message that came back, or a provider's report, says about recipients. Every way in ends in these shapes. */

/** `ignored`: no bounce and no complaint (a delay, an automatic reply, a challenge, a change of address, or no report at all). */
export type VerdictKind = "hard" | "soft" | "block" | "complaint" | "ignored";

export interface Verdict {
  kind: VerdictKind;
  /** The stable word of the rule that decided, as `mailbox-unknown`, `mailbox-full`, `delayed`, `automatic-reply`. */
  reason: string;
  /** The recipient that the report speaks of, with its domain in lower case; null where it names none. */
  recipient: string | null;
  /** True where it named a person who was erased; `recipient` is null then. */
  isErased?: boolean;
  /** Further addresses that the report gives for the same recipient, as where an alias led; missing where there are none. */
  otherRecipients?: string[];
  /** RFC 3463, as `5.1.1`; null where there is none. */
  statusCode: string | null;
  /** The refusing server's words on one line, at most 1,000 characters. */
  diagnostic: string | null;
}

export interface Report {
  /** One for each recipient that is reported, at most 100; never empty. */
  verdicts: Verdict[];
  /** Message-ID of the mail that came back, without angle brackets. */
  returnedMessageId: string | null;
  /** Whom the report itself was sent to: To, Delivered-To, X-Original-To and the like. One may hold a bounce token. */
  addressedTo: string[];
  /** Who wrote it, for figures and tests, as `rfc3464`, `qmail`, `exim`, `arf`. */
  dialect: string;
}
