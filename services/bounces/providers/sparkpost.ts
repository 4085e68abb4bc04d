/**
 * Reads SparkPost's (Bird's) event webhook, whose batches hold each event in `msys`. It is not signed. Reference:
 * developers.sparkpost.com, "Event Webhooks" and its bounce classification codes.
 */
import { carriesSecret, isSameSecret, type ProviderRequest } from "./credentials.ts";
import {
  fieldsOf,
  listOf,
  type ProviderEvent,
  providerEvent,
  statusCodeOf,
  textOf,
  type Word,
  wordTable,
} from "./event.ts";

/** Accepts basic or bearer authentication, or the token of older webhooks. */
export const isFromSparkpost = (request: ProviderRequest, secret: string): boolean =>
  carriesSecret(request, secret) || isSameSecret(request.headers["x-messagesystems-webhook-token"] ?? "", secret);

/**
 * 1 (undetermined) is missing: the server's answer decides. 60 (automatic reply), 80 and 90 (subscriptions) and 100
 * (challenge) are not bounces.
 */
const CLASSES = wordTable({
  "10": "mailbox-unknown",
  "20": "temporary-failure",
  "21": "temporary-failure",
  "22": "mailbox-full",
  "23": "too-large",
  "24": "temporary-failure",
  "25": "blocked",
  "26": "on-providers-list",
  "30": "mailbox-unknown",
  "40": "temporary-failure",
  "50": "blocked",
  "51": "blocked",
  "52": "content-refused",
  "53": "content-refused",
  "54": "blocked",
  "70": "temporary-failure",
});
const NO_BOUNCES = new Set(["60", "80", "90", "100"]);
/** `delay` is retried by SparkPost. */
const BOUNCES = new Set(["bounce", "out_of_band", "policy_rejection", "generation_rejection", "generation_failure"]);

export function readSparkpost(body: unknown): ProviderEvent[] {
  return listOf(body).flatMap((item) => {
    const fields = fieldsOf(Object.values(fieldsOf(fieldsOf(item).msys))[0]);
    const { type, bounce_class, raw_reason, reason, error_code } = fields;
    const statusCode = statusCodeOf(raw_reason, reason);
    const bounceClass = textOf(bounce_class);
    let word: Word;
    if (type === "spam_complaint") word = "complaint";
    else if (!BOUNCES.has(textOf(type)) || NO_BOUNCES.has(bounceClass)) return [];
    else word = CLASSES.get(bounceClass) ?? "unknown-reason";
    const recipient = textOf(fields.raw_rcpt_to) || fields.rcpt_to;
    const diagnostic = textOf(raw_reason) || textOf(reason) || error_code;
    return providerEvent({
      provider: "sparkpost",
      event: item,
      verdicts: [{ word, recipient, statusCode, diagnostic }],
      // `message_id` is SparkPost's own number.
      sentFrom: fields.msg_from,
    });
  });
}
