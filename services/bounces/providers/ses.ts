/**
 * Reads Amazon SES notifications and events, which SNS delivers (sns.ts). Reference: docs.aws.amazon.com/ses, "Amazon
 * SNS notification contents for Amazon SES" and "Contents of event data that Amazon SES publishes to Amazon SNS".
 */
import {
  type Fields,
  fieldsOf,
  listOf,
  type ProviderEvent,
  providerEvent,
  statusCodeOf,
  textOf,
  type Word,
  wordTable,
} from "./event.ts";

const SUBTYPES = wordTable({
  "Permanent/General": "mailbox-unknown",
  "Permanent/NoEmail": "mailbox-unknown",
  "Permanent/Suppressed": "on-providers-list",
  "Permanent/OnAccountSuppressionList": "on-providers-list",
  "Permanent/UnsubscribedRecipient": "blocked",
  "Transient/General": "temporary-failure",
  "Transient/MailboxFull": "mailbox-full",
  "Transient/MessageTooLarge": "too-large",
  "Transient/ContentRejected": "content-refused",
  "Transient/AttachmentRejected": "content-refused",
});

function wordOf({ bounceType, bounceSubType }: Fields): Word {
  const subtype = SUBTYPES.get(`${textOf(bounceType)}/${textOf(bounceSubType)}`);
  if (subtype) return subtype;
  if (bounceType === "Permanent") return "mailbox-unknown";
  return bounceType === "Transient" ? "temporary-failure" : "unknown-reason";
}

/**
 * Returns the original Message-ID. SES replaces it in transit; the original is in the headers, if these are included.
 */
function messageIdIn(mail: Fields): unknown {
  const header = listOf(mail.headers)
    .map(fieldsOf)
    .find(({ name }) => textOf(name).toLowerCase() === "message-id");
  return header?.value ?? fieldsOf(mail.commonHeaders).messageId;
}

function bounceVerdicts(bounce: Fields) {
  return listOf(bounce.bouncedRecipients).map((one) => {
    const { emailAddress, status, diagnosticCode } = fieldsOf(one);
    const statusCode = statusCodeOf(status, diagnosticCode);
    return { word: wordOf(bounce), recipient: emailAddress, statusCode, diagnostic: diagnosticCode };
  });
}

/** Types of RFC 5965 and its extensions that are not complaints. */
const NO_COMPLAINTS = new Set(["not-spam", "auth-failure"]);

function complaintVerdicts({ complaintFeedbackType, complaintSubType, complainedRecipients }: Fields) {
  if (NO_COMPLAINTS.has(textOf(complaintFeedbackType))) return [];
  // Amazon did not send the message: the address had complained about an earlier one.
  const word: Word = complaintSubType === "OnAccountSuppressionList" ? "on-providers-list" : "complaint";
  return listOf(complainedRecipients).map((one) => ({
    word,
    recipient: fieldsOf(one).emailAddress,
    diagnostic: textOf(complaintFeedbackType),
  }));
}

/** `message` is the parsed content of the SNS notification's `Message`. */
export function readSes(message: unknown): ProviderEvent[] {
  const fields = fieldsOf(message);
  const type = fields.notificationType ?? fields.eventType;
  const mail = fieldsOf(fields.mail);
  const reported = { provider: "ses", event: message, messageId: messageIdIn(mail), sentFrom: mail.source };
  if (type === "Bounce") return providerEvent({ ...reported, verdicts: bounceVerdicts(fieldsOf(fields.bounce)) });
  if (type === "Complaint")
    return providerEvent({ ...reported, verdicts: complaintVerdicts(fieldsOf(fields.complaint)) });
  if (type !== "Reject") return [];
  // SES found a virus and sent nothing.
  const diagnostic = fieldsOf(fields.reject).reason;
  const verdicts = listOf(mail.destination).map((recipient) => ({
    word: "content-refused" as const,
    recipient,
    diagnostic,
  }));
  return providerEvent({ ...reported, verdicts });
}
