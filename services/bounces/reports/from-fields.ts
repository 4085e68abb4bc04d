/**
 * Derives verdicts from machine-readable parts: delivery status, feedback reports, receipts, Amazon's notifications.
 */

import { classify } from "../../lib/replies/classify.ts";
import type { Verdict } from "../verdict.ts";
import { firstAddress } from "./addresses.ts";
import { type RecipientStatus, readDeliveryStatus } from "./delivery-status.ts";
import { readFeedbackReport, withoutHidden } from "./feedback-report.ts";
import { bounce, ignored, oneLine } from "./make-verdict.ts";
import type { Material } from "./material.ts";
import { firstParagraph, type IgnoredReason, isDelayNotice, isGivenUp } from "./not-a-bounce.ts";
import { isAfterData, namedRecipients, refusalIn, wordsAbout } from "./plain-text.ts";
import type { ReturnedMessage } from "./returned-message.ts";
import type { SesNotification } from "./ses-notification.ts";

const IGNORED_ACTIONS: Record<string, IgnoredReason> = {
  delayed: "delayed",
  delivered: "delivered",
  relayed: "delivered",
  expanded: "delivered",
};

export const fromStatus = (recipients: RecipientStatus[], material: Material): Verdict[] =>
  recipients.map((fields) => ofRecipient(fields, recipients.length === 1, material));

function ofRecipient(fields: RecipientStatus, isOnly: boolean, material: Material): Verdict {
  const { subject, notice } = material;
  const recipient = fields.recipient ?? (isOnly ? recipientElsewhere(material) : null);
  const about = recipient ? wordsAbout(notice, recipient) : "";
  const diagnostic = fields.diagnostic || refusalIn(about) || about;
  const { meaning, statusCode } = classify({
    text: diagnostic,
    status: fields.status,
    notice: about || (isOnly ? notice : ""),
    isAfterData: isAfterData(isOnly ? notice : about),
  });
  if (fields.action === "delayed" && isGivenUp(diagnostic)) {
    return bounce(meaning, recipient, { statusCode, words: firstParagraph(diagnostic), others: fields.others });
  }
  const reason =
    IGNORED_ACTIONS[fields.action] ??
    (fields.status.startsWith("2") ? "delivered" : undefined) ??
    (fields.action === "" && isDelayNotice(subject, notice) ? "delayed" : undefined);
  if (reason) return { ...ignored(reason, recipient), statusCode, diagnostic: oneLine(diagnostic) };
  return bounce(meaning, recipient, {
    statusCode,
    words: diagnostic,
    others: [...fields.others, ...expandedFrom(about)],
  });
}

/** sendmail and Postfix name the address before alias expansion in `expanded from`. */
export function expandedFrom(words: string): string[] {
  const address = firstAddress(/\(expanded from:?([^)]{3,400})\)/.exec(words)?.[1] ?? "");
  return address ? [address] : [];
}

/** Finds the recipient of a report whose fields hold no address or only a local name. */
export function recipientElsewhere({ headers, notice, returned, addressedTo }: Material): string | null {
  const failed = firstAddress(headers.get("x-failed-recipients")?.[0] ?? "");
  if (failed) return failed;
  const ownAddresses = [...addressedTo, firstAddress(headers.get("from")?.[0] ?? "") ?? ""];
  const named = namedRecipients(notice, ownAddresses)[0]?.address;
  if (named && !addressedTo.includes(named)) return named;
  return withoutHidden(returned.recipients)[0] ?? named ?? null;
}

export function fromFeedback(text: string, returned: ReturnedMessage): Verdict[] {
  const { type, recipients } = readFeedbackReport(text);
  if (type === "not-spam") return [ignored("not-spam")];
  // Reports of RFC 6591 and DMARC failures have the format of complaints but are about forged mail.
  if (type.startsWith("auth-failure") || type === "dmarc") return [ignored("authentication-report")];
  const found = recipients.length > 0 ? recipients : withoutHidden(returned.recipients).slice(0, 1);
  return (found.length > 0 ? found : [null]).map((recipient) => complaint(type, recipient));
}

const complaint = (reason: string, recipient: string | null): Verdict => ({
  kind: "complaint",
  reason,
  recipient,
  statusCode: null,
  diagnostic: null,
});

/** A receipt (RFC 8098) says that a message was read, or why it was refused (Sieve's `reject`, RFC 5429). */
export function fromReceipt(text: string, { notice, subject }: Material): Verdict {
  const recipient = readDeliveryStatus(text)[0]?.recipient ?? null;
  const isRefused = /^disposition:[^\n]*;\s*(?:deleted|failed)/im.test(text) && /reject/i.test(subject + notice);
  if (!isRefused) return ignored("read-receipt", recipient);
  const { meaning, statusCode } = classify({ text: notice, isAfterData: true });
  return bounce(meaning, recipient, { statusCode, words: notice });
}

export function fromNotification({ kind, recipients }: SesNotification): Verdict[] {
  if (kind === "delivery") return [ignored("delivered")];
  if (recipients.length === 0) return [ignored("no-report")];
  return recipients.map(({ address, status, diagnostic }) => {
    if (kind === "complaint") return complaint("abuse", address);
    const { meaning, statusCode } = classify({ text: diagnostic, status });
    return bounce(meaning, address, { statusCode, words: diagnostic });
  });
}
