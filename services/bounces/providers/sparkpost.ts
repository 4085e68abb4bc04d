/**
 * SparkPost's (Bird's) event webhook. Source of names: developers.sparkpost.com, "Event Webhooks" and its bounce
 * classification codes. It is not signed. Events come in batches, each in `msys`.
 */
import { carriesSecret, isSameSecret, type ProviderRequest } from "./credentials.ts";
import {
  BLOCKED,
  COMPLAINT,
  CONTENT_REFUSED,
  FULL_MAILBOX,
  fieldsOf,
  listOf,
  type Meaning,
  meaningOfStatus,
  meanings,
  NOT_DELIVERED,
  ON_PROVIDERS_LIST,
  type ProviderEvent,
  providerEvent,
  statusCodeOf,
  TOO_LARGE,
  textOf,
  UNKNOWN_MAILBOX,
} from "./event.ts";

/** As basic or bearer authentication, or as the token that webhooks made before these have. */
export const isFromSparkpost = (request: ProviderRequest, secret: string): boolean =>
  carriesSecret(request, secret) || isSameSecret(request.headers["x-messagesystems-webhook-token"] ?? "", secret);

/** 1 undetermined is read by its code. 60 automatic reply, 80 and 90 subscriptions and 100 challenges are no bounces. */
const CLASSES = meanings({
  "10": UNKNOWN_MAILBOX,
  "20": NOT_DELIVERED,
  "21": NOT_DELIVERED,
  "22": FULL_MAILBOX,
  "23": TOO_LARGE,
  "24": NOT_DELIVERED,
  "25": BLOCKED,
  "26": ON_PROVIDERS_LIST,
  "30": UNKNOWN_MAILBOX,
  "40": NOT_DELIVERED,
  "50": BLOCKED,
  "51": BLOCKED,
  "52": CONTENT_REFUSED,
  "53": CONTENT_REFUSED,
  "54": BLOCKED,
  "70": NOT_DELIVERED,
});
const NO_BOUNCES = new Set(["60", "80", "90", "100"]);
/** `delay` is tried again. */
const BOUNCES = new Set(["bounce", "out_of_band", "policy_rejection", "generation_rejection", "generation_failure"]);

export function readSparkpost(body: unknown): ProviderEvent[] {
  return listOf(body).flatMap((item) => {
    const fields = fieldsOf(Object.values(fieldsOf(fieldsOf(item).msys))[0]);
    const { type, bounce_class, raw_reason, reason, error_code } = fields;
    const statusCode = statusCodeOf(raw_reason, reason);
    const bounceClass = textOf(bounce_class);
    let meaning: Meaning;
    if (type === "spam_complaint") meaning = COMPLAINT;
    else if (!BOUNCES.has(textOf(type)) || NO_BOUNCES.has(bounceClass)) return [];
    else meaning = CLASSES.get(bounceClass) ?? meaningOfStatus(statusCode);
    const recipient = textOf(fields.raw_rcpt_to) || fields.rcpt_to;
    const diagnostic = textOf(raw_reason) || textOf(reason) || error_code;
    return providerEvent({
      provider: "sparkpost",
      event: item,
      verdicts: [{ meaning, recipient, statusCode, diagnostic }],
      // `message_id` is SparkPost's own number.
      sentFrom: fields.msg_from,
    });
  });
}
