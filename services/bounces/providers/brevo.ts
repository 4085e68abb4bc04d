/**
 * Brevo's (Sendinblue's) webhooks of transactional mail and campaigns. Source of names: developers.brevo.com,
 * "Transactional webhooks", "Marketing webhooks" and "Batched webhooks". They are not signed.
 */
import {
  BLOCKED,
  COMPLAINT,
  FULL_MAILBOX,
  fieldsOf,
  meaningOfStatus,
  meanings,
  NOT_DELIVERED,
  type ProviderEvent,
  providerEvent,
  statusCodeOf,
  textOf,
  UNKNOWN_MAILBOX,
} from "./event.ts";

/** `deferred` is tried again; the rest are deliveries, opens, clicks and subscriptions. */
const EVENTS = meanings({
  hardbounce: UNKNOWN_MAILBOX,
  softbounce: NOT_DELIVERED,
  invalidemail: UNKNOWN_MAILBOX,
  blocked: BLOCKED,
  error: BLOCKED,
  spam: COMPLAINT,
  complaint: COMPLAINT,
});

export function readBrevo(body: unknown): ProviderEvent[] {
  return [body].flat().flatMap((event) => {
    const { event: name, email: recipient, reason: diagnostic, ...fields } = fieldsOf(event);
    // Its kinds of webhook spell names as hard_bounce, hardBounce and hard-bounce.
    const meaning = EVENTS.get(textOf(name).toLowerCase().replace(/[_-]/g, ""));
    if (!meaning) return [];
    const statusCode = statusCodeOf(diagnostic);
    const isFull = meaning === NOT_DELIVERED && meaningOfStatus(statusCode) === FULL_MAILBOX;
    return providerEvent({
      provider: "brevo",
      event,
      verdicts: [{ meaning: isFull ? FULL_MAILBOX : meaning, recipient, statusCode, diagnostic }],
      messageId: fields["message-id"],
    });
  });
}
