/**
 * Test send: admitted and charged like a send, and handed over while the caller waits. The quota is charged first; only
 * what no sender took is refunded.
 */

import { transaction } from "../../../models/database/db.ts";
import { auditWithin } from "../../../models/statements/audit-log.ts";
import { requireQuotaWithin } from "../../../models/statements/monthly-quota.ts";
import { addEmails } from "../../../models/statements/plan-usage.ts";
import { call } from "../../call.ts";
import type { ParamsOf } from "../../contracts.ts";
import type { Validate } from "../../define.ts";
import { addressText } from "../../lib/address.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { type FieldErrors, throttled } from "../../lib/errors.ts";
import { apiLimiter } from "../../lib/limits/api-limiter.ts";
import { exactWindow } from "../../lib/limits/limiter.ts";
import type { contract } from "../contract.ts";
import type { TestResult } from "../contract-test-send.ts";
import { admit } from "./admission.ts";
import { asSent } from "./body-as-sent.ts";
import { attachmentErrors, companyError, fieldError, referenceErrors, textErrorsOf } from "./send-errors.ts";
import { suppressedAmong } from "./suppressed-among.ts";
import { sendWarnings } from "./warnings.ts";

type TestSendParams = ParamsOf<"campaigns.sendTest">;

const TESTS_PER_MINUTE = 20;

/** Keeps the response within 30 s, whatever the DNS, the renderer and the SMTP server do. */
const TOTAL_MS = 27_000;
/** Extra time for the sender's own answer. */
const ANSWER_MS = 1_500;

const REQUIRED = ["This field is required."];
const NO_CONTENT = ["Give template_id, or subject with body or design."];
const NO_BODY = ["Give body or design."];
const NOT_BOTH = ["Give either template_id, or subject with body or design."];

const WRITTEN = ["subject", "body", "design", "preheader", "text_body", "inline_css"] as const;

/** Requires either a template, or a subject with a body or a design. */
function contentErrors(asked: TestSendParams): FieldErrors {
  const { template_id, subject, body, design } = asked;
  if (template_id !== undefined) {
    return Object.fromEntries(WRITTEN.filter((field) => asked[field] !== undefined).map((field) => [field, NOT_BOTH]));
  }
  const hasBody = body !== undefined || design !== undefined;
  if (subject === undefined && !hasBody) return { template_id: NO_CONTENT };
  return { ...(subject === undefined && { subject: REQUIRED }), ...(!hasBody && { body: NO_BODY }) };
}

export const errorsOfTest: Validate<typeof contract.sendTest> = async (ctx, isValid) => {
  const companyId = companyOf(ctx);
  const { params } = ctx;
  const ids = Object.fromEntries(
    (["template_id", "smtp_config_id"] as const).filter(isValid).map((field) => [field, params[field]]),
  );
  return {
    ...contentErrors(params),
    ...(isValid("company") ? fieldError("company", [companyError(companyId, params)]) : {}),
    ...(await textErrorsOf(companyId, params, isValid)),
    ...(await referenceErrors(companyId, ids)),
    ...(isValid("attachment_ids")
      ? fieldError("attachment_ids", await attachmentErrors(companyId, params.attachment_ids!))
      : {}),
  };
};

async function limitTests(companyId: string): Promise<void> {
  const window = exactWindow(`throttle-test-send:${companyId}`, TESTS_PER_MINUTE, 60);
  const { granted, retryAfterMs } = await apiLimiter().take(window, 1);
  if (granted === 0) throw throttled(Math.ceil(retryAfterMs / 1_000));
}

/** Charges and audits before anything is sent. Throws 403. */
const charge = (ctx: Ctx<TestSendParams>, companyId: string, emails: number): Promise<void> =>
  transaction(async (client) => {
    await requireQuotaWithin(client, companyId, emails);
    await addEmails(client, companyId, emails);
    const { smtp_config_id: target } = ctx.params;
    await auditWithin(client, companyId, ctx.meta, { action: "campaign.tested", target, detail: { emails } });
  });

const giveBack = (companyId: string, emails: number) => transaction((client) => addEmails(client, companyId, -emails));

/** Removes duplicates regardless of case. */
function distinct(addresses: readonly string[]): string[] {
  const trimmed = addresses.map(addressText);
  const keys = trimmed.map((address) => address.toLowerCase());
  return trimmed.filter((_, i) => keys.indexOf(keys[i]!) === i);
}

async function handOver(ctx: Ctx<TestSendParams>, to: readonly string[], withinMs: number) {
  const { smtp_config_id, template_id, subject, preheader, text_body, variables, attachment_ids } = ctx.params;
  const made = await asSent(companyOf(ctx), ctx.params);
  const content = { template_id, subject, preheader, text_body, variables, attachment_ids, ...made };
  const given = Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined));
  const params = { ...given, smtp_config_id, to: [...to], within_ms: withinMs };
  return call(ctx, "smtp-sender.sendTests", params, { timeout: withinMs + ANSWER_MS });
}

export async function sendTest(ctx: Ctx<TestSendParams>): Promise<{ results: TestResult[]; warnings: string[] }> {
  const began = performance.now();
  const companyId = companyOf(ctx);
  await limitTests(companyId);
  const to = distinct(ctx.params.to);
  const suppressed = await suppressedAmong(companyId, to);
  const sendable = to.filter((email) => !suppressed.has(email));
  await admit(ctx, { emails: sendable.length, scheduledFor: null, toSegment: false });
  const ofServer = await sendWarnings(ctx, companyId, ctx.params.smtp_config_id);
  await charge(ctx, companyId, sendable.length);
  const withinMs = Math.max(1, TOTAL_MS - (performance.now() - began));
  const sent = await handOver(ctx, sendable, withinMs).catch(async (error: Error) => {
    // After a timeout the emails may have been sent.
    if (error.name !== "RequestTimeoutError") await giveBack(companyId, sendable.length);
    throw error;
  });
  const results = to.map((email): TestResult => {
    const error = suppressed.get(email);
    if (error !== undefined) return { email, status: "suppressed", smtp_response: null, error };
    return { email, ...sent.results[sendable.indexOf(email)]! };
  });
  return { results, warnings: [...sent.warnings, ...ofServer] };
}
