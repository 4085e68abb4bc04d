/**
 * Reads Brevo's (Sendinblue's) webhooks of transactional mail and campaigns. They are not signed. Reference:
 * developers.brevo.com, "Transactional webhooks", "Marketing webhooks" and "Batched webhooks".
 */
import { fieldsOf, type ProviderEvent, providerEvent, statusCodeOf, textOf, wordTable } from "./event.ts";

/** `deferred` is retried by Brevo; all other events are deliveries, opens, clicks and subscriptions. */
const EVENTS = wordTable({
  hardbounce: "mailbox-unknown",
  softbounce: "temporary-failure",
  invalidemail: "mailbox-unknown",
  blocked: "blocked",
  error: "blocked",
  spam: "complaint",
  complaint: "complaint",
});

export function readBrevo(body: unknown): ProviderEvent[] {
  return [body].flat().flatMap((event) => {
    const { event: name, email: recipient, reason: diagnostic, ...fields } = fieldsOf(event);
    // Names are spelled hard_bounce, hardBounce or hard-bounce, depending on the kind of webhook.
    const word = EVENTS.get(textOf(name).toLowerCase().replace(/[_-]/g, ""));
    if (!word) return [];
    return providerEvent({
      provider: "brevo",
      event,
      verdicts: [{ word, recipient, statusCode: statusCodeOf(diagnostic), diagnostic }],
      messageId: fields["message-id"],
    });
  });
}
