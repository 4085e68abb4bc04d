/**
 * Brevo's (Sendinblue's) webhooks of transactional mail and campaigns. Source of names: developers.brevo.com,
 * "Transactional webhooks", "Marketing webhooks" and "Batched webhooks". They are not signed.
 */
import { fieldsOf, type ProviderEvent, providerEvent, statusCodeOf, textOf, wordTable } from "./event.ts";

/** `deferred` is tried again; the rest are deliveries, opens, clicks and subscriptions. */
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
    // Its kinds of webhook spell names as hard_bounce, hardBounce and hard-bounce.
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
