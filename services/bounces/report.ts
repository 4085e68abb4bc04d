/** Builds the report of a bounce or complaint from an API request. */
import type { ParamsOf } from "../contracts.ts";
import { addressKey, addressText } from "../lib/address.ts";
import type { FieldErrors } from "../lib/errors.ts";
import { statusCodeIn } from "../lib/replies/codes.ts";
import type { IncomingReport } from "./incoming-report.ts";

type Reported = ParamsOf<"bounces.report">;

export function reportErrors({ sent_email_id, message_id, email }: Reported): FieldErrors {
  const given = [sent_email_id, message_id, email].filter((sign) => sign !== undefined && sign !== null);
  return given.length === 1 ? {} : { non_field_errors: ["Give exactly one of sent_email_id, message_id and email."] };
}

export function incomingReportOf(companyId: string, reported: Reported): IncomingReport {
  const { sent_email_id: sentEmailId, message_id, email, type, diagnostic } = reported;
  const verdict = {
    kind: type,
    reason: "reported",
    recipient: email === undefined ? null : addressKey(addressText(email)),
    statusCode: statusCodeIn(diagnostic ?? "")?.code ?? null,
    diagnostic: diagnostic ?? null,
  };
  return {
    via: "api",
    companyId,
    sentEmailId,
    messageId: message_id?.trim(),
    report: { verdicts: [verdict], returnedMessageId: null, addressedTo: [], dialect: "api" },
  };
}
