/** The bodies of errors. */
import { described, type Schema } from "./describe-fields.ts";

const text = { type: "string" };
const integer = { type: "integer" };

function structured(code: string, description: string, properties: Record<string, object>, example: object): Schema {
  const detail = { code: { const: code, description: "Which error it is." }, message: text, ...properties };
  return {
    type: "object",
    description,
    required: ["detail"],
    properties: { detail: { type: "object", required: Object.keys(detail), properties: detail } },
    examples: [{ detail: { code, ...example } }],
  };
}

const SCHEMAS: Record<string, Schema> = {
  Error: {
    type: "object",
    description: "What is wrong, as a sentence; `code` where a program needs to know which.",
    required: ["detail"],
    properties: { detail: text, code: text },
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
    { feature: text, package: text },
    { message: "Scheduling is not in the plan free.", feature: "scheduled_campaigns", package: "free" },
  ),
  DailyQuotaExceeded: structured(
    "rate_limit_exceeded",
    "The API calls of the day are used up.",
    { limit: integer, current: integer },
    { message: "Daily limit of API calls reached.", limit: 1_000, current: 1_001 },
  ),
  SmtpRateLimited: structured(
    "smtp_rate_limited",
    "The mails of the hour are used up.",
    { limit_type: { enum: ["hourly"] } },
    { message: "The hourly limit of mails is reached.", limit_type: "hourly" },
  ),
  InternalError: {
    type: "object",
    description: "Our fault; the log has it under `request_id`.",
    required: ["detail", "request_id"],
    properties: { detail: text, request_id: text },
    examples: [{ detail: "Internal server error.", request_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b" }],
  },
};

/** Each with a description of every field, besides the example of the whole. */
export const errorSchemas: Record<string, Schema> = Object.fromEntries(
  Object.entries(SCHEMAS).map(([name, { examples, ...schema }]) => [name, { ...described(schema, [name]), examples }]),
);

/** The example of an error's body. */
export const exampleOf = (name: string): unknown => (SCHEMAS[name]!.examples as unknown[])[0];
