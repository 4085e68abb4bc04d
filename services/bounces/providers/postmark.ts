/**
 * Postmark's bounce and spam complaint webhooks. Source of names: postmarkapp.com/developer/webhooks, and "Bounce types" of
 * its bounce API. They are not signed. One event in each request.
 */
import { fieldsOf, type ProviderEvent, providerEvent, statusCodeOf, textOf, wordTable } from "./event.ts";

/** Types that are missing here are no bounces: delays, automatic replies, challenges, changes of address or subscription. */
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
  // Its MessageID is Postmark's own number; with a dump of the bounce, the mail's own id may stand in it.
  const messageId = /^message-id:\s*<([^<>\s]+)>/gim;
  const ids = [...textOf(fields.Content).slice(0, 65_536).matchAll(messageId)];
  return providerEvent({
    provider: "postmark",
    event: body,
    verdicts: [{ word, recipient, statusCode, diagnostic }],
    // The bounce's own comes first, the returned mail's last.
    messageId: ids.at(-1)?.[1],
  });
}
