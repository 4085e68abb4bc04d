/**
 * Reads Postmark's bounce and spam complaint webhooks, one event per request. They are not signed. Reference:
 * postmarkapp.com/developer/webhooks, and "Bounce types" of its bounce API.
 */
import { fieldsOf, type ProviderEvent, providerEvent, statusCodeOf, textOf, wordTable } from "./event.ts";

/** Types missing here are not bounces: delays, automatic replies, challenges, changes of address or subscription. */
const TYPES = wordTable({
  HardBounce: "mailbox-unknown",
  BadEmailAddress: "mailbox-unknown",
  ManuallyDeactivated: "on-providers-list",
  SoftBounce: "temporary-failure",
  Undeliverable: "temporary-failure",
  DnsError: "temporary-failure",
  Unknown: "unknown-reason",
  Blocked: "blocked",
  DMARCPolicy: "blocked",
  SpamNotification: "content-refused",
  VirusNotification: "content-refused",
  SpamComplaint: "complaint",
});

export function readPostmark(body: unknown): ProviderEvent[] {
  const fields = fieldsOf(body);
  const { RecordType, Type, Email: recipient, Details, Description } = fields;
  if (RecordType !== undefined && RecordType !== "Bounce" && RecordType !== "SpamComplaint") return [];
  const word = TYPES.get(textOf(Type)) ?? (RecordType === "SpamComplaint" ? "complaint" : undefined);
  if (!word) return [];
  const statusCode = statusCodeOf(Details);
  const diagnostic = textOf(Details) || Description;
  // MessageID is Postmark's own number; a dump of the bounce may contain the original Message-ID.
  const messageId = /^message-id:\s*<([^<>\s]+)>/gim;
  const ids = [...textOf(fields.Content).slice(0, 65_536).matchAll(messageId)];
  return providerEvent({
    provider: "postmark",
    event: body,
    verdicts: [{ word, recipient, statusCode, diagnostic }],
    // The bounce's own id comes first, the returned message's last.
    messageId: ids.at(-1)?.[1],
  });
}
