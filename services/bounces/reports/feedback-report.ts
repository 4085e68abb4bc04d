/** Parses message/feedback-report (RFC 5965): spam complaints, and other reports of the same format. */
import { allAddresses } from "./addresses.ts";
import { parseHeaders } from "./headers.ts";

interface FeedbackReport {
  /** `abuse`, `fraud`, `opt-out`, `not-spam`, `auth-failure` … in lower case. */
  type: string;
  /** Original-Rcpt-To or its provider-specific replacements; many omit or hide it. */
  recipients: string[];
}

const RECIPIENT_FIELDS = ["original-rcpt-to", "removal-recipient", "original-recipient", "final-recipient"];
const MAX_RECIPIENTS = 100;
/** AOL and Comcast put a placeholder instead of the address. */
const HIDDEN = /^(?:redacted|undisclosed|unknown|removed|hidden)\b|^redact/i;

export function readFeedbackReport(text: string): FeedbackReport {
  const fields = parseHeaders(text.replace(/\n[ \t]*\n/g, "\n"));
  const values = RECIPIENT_FIELDS.flatMap((name) => fields.get(name) ?? []);
  return {
    type: /^[a-z][a-z-]{1,30}/i.exec(fields.get("feedback-type")?.[0] ?? "abuse")?.[0].toLowerCase() ?? "other",
    recipients: withoutHidden(allAddresses(values, MAX_RECIPIENTS)),
  };
}

export const withoutHidden = (addresses: string[]): string[] => addresses.filter((address) => !HIDDEN.test(address));
