/**
 * Reads a report from the bytes of a message sent to a bounce address. Pure, never throws, and bounded in CPU time
 * because it reads a bounded prefix.
 *
 *   mime, headers, charset     parts and texts of a message
 *   texts/, dialects           wording of mail servers around a refusal
 *   material                   input of the verdicts
 *   lib/replies                meaning of the refusal
 *   from-fields, from-words    verdicts
 */
import type { Report, Verdict } from "../verdict.ts";
import { allAddresses } from "./addresses.ts";
import { readDeliveryStatus } from "./delivery-status.ts";
import { dialectOf } from "./dialects.ts";
import { fromFeedback, fromNotification, fromReceipt, fromStatus } from "./from-fields.ts";
import { fromWords, looksLikeNotice } from "./from-words.ts";
import { ignored } from "./make-verdict.ts";
import { gather, type Material, statusText } from "./material.ts";
import { readMime, textOf } from "./mime.ts";
import { automaticReason, isChallenger } from "./not-a-bounce.ts";
import { isReturnedPart } from "./returned-message.ts";
import { readSesNotification } from "./ses-notification.ts";

const MAX_VERDICTS = 100;
/**
 * Outlook.com's feedback loop sends only the original message: https://sendersupport.olc.protection.outlook.com/snds/
 */
const JMRP_SUBJECT = /^complaint about message from /i;

export async function readReport(raw: Uint8Array): Promise<Report> {
  try {
    return understand(gather(readMime(raw)));
  } catch {
    return { verdicts: [ignored("no-report")], returnedMessageId: null, addressedTo: [], dialect: "none" };
  }
}

/** Tries the most reliable first: machine-readable formats, known dialects, then anything that looks like a notice. */
function understand(material: Material): Report {
  const { headers, subject, leaves, notice, returned, addressedTo } = material;
  const report = (dialect: string, verdicts: Verdict[], messageId: string | null = null): Report => ({
    verdicts: verdicts.slice(0, MAX_VERDICTS),
    returnedMessageId: messageId ?? returned.messageId,
    addressedTo,
    dialect,
  });
  const ofType = (type: string) => leaves.find((part) => part.type === type);

  const feedback = ofType("message/feedback-report");
  if (feedback) return report("arf", fromFeedback(textOf(feedback), returned));
  if (JMRP_SUBJECT.test(subject) && leaves.some(isReturnedPart)) return report("jmrp", fromFeedback("", returned));
  const receipt = ofType("message/disposition-notification");
  if (receipt) return report("mdn", [fromReceipt(textOf(receipt), material)]);
  if (isChallenger(headers)) return report("challenge", [ignored("challenge")]);
  const notification = readSesNotification(notice);
  if (notification) return report("amazonses", fromNotification(notification), notification.messageId);

  const dialect = dialectOf(headers, notice);
  const isNotice = dialect !== undefined || headers.has("x-failed-recipients") || looksLikeNotice(material);
  const recipients = readDeliveryStatus(statusText(leaves) || (isNotice ? pastedStatus(notice) : ""));
  if (recipients.length > 0) return report(dialect?.name ?? "rfc3464", fromStatus(recipients, material));
  if (!isNotice) return report("none", [ignored(automaticReason(headers, notice) ?? "no-report")]);
  const failed = allAddresses(headers.get("x-failed-recipients") ?? [], MAX_VERDICTS);
  return report(dialect?.name ?? "unknown", fromWords(material, failed, dialect));
}

/** Some gateways convert the machine-readable part to text. */
function pastedStatus(notice: string): string {
  const at = notice.search(/^(?:reporting-mta|final-recipient|original-recipient):/im);
  return at < 0 ? "" : notice.slice(at);
}
