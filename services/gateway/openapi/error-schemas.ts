/** The bodies of errors. */
import type { Schema } from "./describe-fields.ts";

const text = { type: "string" };
const sentence = { type: "string", description: "Message for people." };
const detailText = { ...sentence, examples: ["Not found."] };

function structured(
  code: string,
  description: string,
  properties: Record<string, object>,
  example: Record<string, unknown>,
): Schema {
  const detail = {
    code: { const: code, description: "Error code." },
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
    description: "Error as a sentence; `code` where programs need to distinguish errors.",
    required: ["detail"],
    properties: {
      detail: detailText,
      code: { type: "string", description: "Error code for programs.", examples: ["totp_required"] },
    },
    examples: [{ detail: "Not found." }],
  },
  FieldErrors: {
    type: "object",
    description: "All errors of the request, by field.",
    additionalProperties: { type: "array", items: text, minItems: 1 },
    minProperties: 1,
    examples: [{ email: ["Enter a valid email address."], name: ["This field is required."] }],
  },
  FeatureNotAvailable: structured(
    "feature_not_available",
    "The company's plan does not include the feature.",
    {
      feature: {
        type: "string",
        description: "Missing feature.",
        examples: ["scheduled_campaigns"],
      },
      package: { type: "string", description: "The company's plan.", examples: ["free"] },
    },
    { message: "Scheduling is not in the plan free.", feature: "scheduled_campaigns", package: "free" },
  ),
  DailyQuotaExceeded: structured(
    "rate_limit_exceeded",
    "The daily limit of API calls is used up.",
    {
      limit: { type: "integer", description: "Calls per day.", examples: [1_000] },
      current: { type: "integer", description: "Calls made today.", examples: [1_001] },
    },
    { message: "Daily limit of API calls reached.", limit: 1_000, current: 1_001 },
  ),
  SmtpRateLimited: structured(
    "smtp_rate_limited",
    "The hourly limit of mails is used up.",
    { limit_type: { enum: ["hourly"], description: "The limit that is used up." } },
    { message: "The hourly limit of mails is reached.", limit_type: "hourly" },
  ),
  InternalError: {
    type: "object",
    description: "Internal error, logged under `request_id`.",
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

export const exampleOf = (name: string): unknown => (errorSchemas[name]!.examples as unknown[])[0];
