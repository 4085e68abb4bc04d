/**
 * Postmark's bounce and spam complaint webhooks. Source of names: postmarkapp.com/developer/webhooks, and "Bounce types" of
 * its bounce API. They are not signed. One event in each request.
 */
import {
  BLOCKED,
  COMPLAINT,
  CONTENT_REFUSED,
  fieldsOf,
  meanings,
  NOT_DELIVERED,
  ON_PROVIDERS_LIST,
  type ProviderEvent,
  providerEvent,
  statusCodeOf,
  textOf,
  UNKNOWN_MAILBOX,
} from "./event.ts";

/** Types that are missing here are no bounces: delays, automatic replies, challenges, changes of address or subscription. */
const TYPES = meanings({
  HardBounce: UNKNOWN_MAILBOX,
  BadEmailAddress: UNKNOWN_MAILBOX,
  ManuallyDeactivated: ON_PROVIDERS_LIST,
  SoftBounce: NOT_DELIVERED,
  Undeliverable: NOT_DELIVERED,
  DnsError: NOT_DELIVERED,
  Unknown: BLOCKED,
  Blocked: BLOCKED,
  DMARCPolicy: BLOCKED,
  SpamNotification: CONTENT_REFUSED,
  VirusNotification: CONTENT_REFUSED,
  SpamComplaint: COMPLAINT,
});

export function readPostmark(body: unknown): ProviderEvent[] {
  const fields = fieldsOf(body);
  const { RecordType, Type, Email: recipient, Details, Description } = fields;
  if (RecordType !== undefined && RecordType !== "Bounce" && RecordType !== "SpamComplaint") return [];
  const meaning = TYPES.get(textOf(Type)) ?? (RecordType === "SpamComplaint" ? COMPLAINT : undefined);
  if (!meaning) return [];
  const statusCode = statusCodeOf(Details);
  const diagnostic = textOf(Details) || Description;
  // Its MessageID is Postmark's own number; with a dump of the bounce, the mail's own id may stand in it.
  const messageId = /^message-id:\s*<([^<>\s]+)>/gim;
  const ids = [...textOf(fields.Content).slice(0, 65_536).matchAll(messageId)];
  return providerEvent({
    provider: "postmark",
    event: body,
    verdicts: [{ meaning, recipient, statusCode, diagnostic }],
    // The bounce's own comes first, the returned mail's last.
    messageId: ids.at(-1)?.[1],
  });
}
