/**
 * Reads Amazon's notifications sent by email: the JSON of an SNS webhook in the text of a message
 * (https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html).
 */
import { firstAddress } from "./addresses.ts";

export interface SesNotification {
  kind: "bounce" | "complaint" | "delivery";
  messageId: string | null;
  recipients: { address: string; status: string; diagnostic: string }[];
}

const MAX_RECIPIENTS = 100;

export function readSesNotification(notice: string): SesNotification | undefined {
  const start = notice.indexOf('{"notificationType"');
  const end = notice.lastIndexOf("}");
  if (start < 0 || end < start) return undefined;
  const notification = parsed(notice.slice(start, end + 1).replaceAll("\n", ""));
  const kind = text(notification, "notificationType").toLowerCase();
  if (kind !== "bounce" && kind !== "complaint" && kind !== "delivery") return undefined;
  const listed = field(field(notification, kind), kind === "bounce" ? "bouncedRecipients" : "complainedRecipients");
  const recipients = (Array.isArray(listed) ? listed.slice(0, MAX_RECIPIENTS) : []).flatMap((recipient: unknown) => {
    const address = firstAddress(text(recipient, "emailAddress"));
    return address
      ? [{ address, status: text(recipient, "status"), diagnostic: text(recipient, "diagnosticCode") }]
      : [];
  });
  const headers = field(field(notification, "mail"), "commonHeaders");
  return { kind, messageId: text(headers, "messageId").replace(/^<|>$/g, "") || null, recipients };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

function text(value: unknown, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}
