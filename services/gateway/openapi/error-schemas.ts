/** The bodies of errors. */
import type { Schema } from "./describe-fields.ts";

const text = { type: "string" };
const sentence = { type: "string", description: "A sentence for people." };
const detailText = { ...sentence, examples: ["Not found."] };

function structured(
  code: string,
  description: string,
  properties: Record<string, object>,
  example: Record<string, unknown>,
): Schema {
  const detail = {
    code: { const: code, description: "Which error it is." },
    message: { ...sentence, examples: [example.message] },
    ...properties,
  };
  return {
    type: "object",
    description,
    required: ["detail"],
    properties: { detail: { ...sentence, type: "object", required: Object.keys(detail), properties: detail } },
    examples: [{ detail: { code, ...example } }],
  };
}

export const errorSchemas: Record<string, Schema> = {
  Error: {
    type: "object",
    description: "What is wrong, as a sentence; `code` where a program needs to know which.",
    required: ["detail"],
    properties: {
      detail: detailText,
      code: { type: "string", description: "A word for programs.", examples: ["totp_required"] },
    },
    examples: [{ detail: "Not found." }],
  },
  FieldErrors: {
    type: "object",
    description: "Every fault of the request, by field.",
    additionalProperties: { type: "array", items: text, minItems: 1 },
    minProperties: 1,
    examples: [{ email: ["Enter a valid email address."], name: ["This field is required."] }],
  },
  FeatureNotAvailable: structured(
    "feature_not_available",
    "The company's plan does not include it.",
    {
      feature: {
        type: "string",
        description: "The feature that is missing.",
        examples: ["scheduled_campaigns"],
      },
      package: { type: "string", description: "The company's plan.", examples: ["free"] },
    },
    { message: "Scheduling is not in the plan free.", feature: "scheduled_campaigns", package: "free" },
  ),
  DailyQuotaExceeded: structured(
    "rate_limit_exceeded",
    "The API calls of the day are used up.",
    {
      limit: { type: "integer", description: "Calls of a day.", examples: [1_000] },
      current: { type: "integer", description: "Calls of today.", examples: [1_001] },
    },
    { message: "Daily limit of API calls reached.", limit: 1_000, current: 1_001 },
  ),
  SmtpRateLimited: structured(
    "smtp_rate_limited",
    "The mails of the hour are used up.",
    { limit_type: { enum: ["hourly"], description: "Which limit it is." } },
    { message: "The hourly limit of mails is reached.", limit_type: "hourly" },
  ),
  InternalError: {
    type: "object",
    description: "Our fault; the log has it under `request_id`.",
    required: ["detail", "request_id"],
    properties: {
      detail: detailText,
      request_id: {
        type: "string",
        description: "Id of this request in the service's log.",
        examples: ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"],
      },
    },
    examples: [{ detail: "Internal server error.", request_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b" }],
  },
};

/** The example of an error's body. */
export const exampleOf = (name: string): unknown => (errorSchemas[name]!.examples as unknown[])[0];
