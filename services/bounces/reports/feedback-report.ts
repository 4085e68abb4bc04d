/** message/feedback-report (RFC 5965): a reader pressed "this is spam", or something that uses the same form. */
import { allAddresses } from "./addresses.ts";
import { parseHeaders } from "./headers.ts";

interface FeedbackReport {
  /** `abuse`, `fraud`, `opt-out`, `not-spam`, `auth-failure` … in lower case. */
  type: string;
  /** Original-Rcpt-To and what providers write instead; many leave it out or hide it. */
  recipients: string[];
}

const RECIPIENT_FIELDS = ["original-rcpt-to", "removal-recipient", "original-recipient", "final-recipient"];
const MAX_RECIPIENTS = 100;
/** AOL and Comcast put a word in the address's place. */
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
