/**
 * The error catalogue: every answer that is not a success, with its HTTP status and body (spec section 7).
 *
 * A service throws what these functions return and knows nothing of HTTP beyond it; the gateway maps them in one
 * place (services/gateway/problems.ts). Anything else that is thrown is a 500 whose message stays inside.
 */
import { Errors } from "moleculer";

export type FieldErrors = Record<string, string[]>;

interface Extras {
  /** Sent as Retry-After. */
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
  retryable?: boolean;
}

export interface ErrorData extends Extras {
  body: Record<string, unknown>;
}

/** Survives the way over NATS: name, numeric code, type and data arrive as they left. */
export class ApiError extends Errors.MoleculerError {
  declare data: ErrorData;

  constructor(type: string, status: number, body: Record<string, unknown>, extras: Extras = {}) {
    super(typeof body.detail === "string" ? body.detail : type, status, type, { body, ...extras });
    this.name = "ApiError";
    this.retryable = extras.retryable ?? false;
  }
}

/** True for ours, also when it arrived from another node as a plain object of the same shape. */
export function isApiError(error: unknown): error is ApiError {
  const e = error as ApiError | undefined;
  return e?.name === "ApiError" && typeof e.code === "number" && typeof e.data?.body === "object";
}

const detail = (type: string, status: number, sentence: string, extras?: Extras) =>
  new ApiError(type, status, { detail: sentence }, extras);

export const invalid = (fields: FieldErrors) => new ApiError("INVALID", 400, fields);
export const badRequest = (sentence: string) => detail("BAD_REQUEST", 400, sentence);
export const wrongState = (sentence: string) => detail("WRONG_STATE", 400, sentence);
export const notFound = () => detail("NOT_FOUND", 404, "Not found.");
export const invalidPage = () => detail("INVALID_PAGE", 404, "Invalid page.");
export const gone = (sentence: string) => detail("GONE", 410, sentence);
export const conflict = (sentence: string) => detail("CONFLICT", 409, sentence);
export const tooLarge = (sentence: string) => detail("TOO_LARGE", 413, sentence);
export const forbidden = (sentence = "You do not have permission to perform this action.") =>
  detail("FORBIDDEN", 403, sentence);

const challenge = { headers: { "WWW-Authenticate": 'Bearer realm="api", ApiKey realm="api", header="X-API-Key"' } };
export const unauthenticated = (sentence = "Authentication credentials were not provided.") =>
  detail("UNAUTHENTICATED", 401, sentence, challenge);

export const subscriberLimitReached = (limit: number) =>
  detail("SUBSCRIBER_LIMIT", 403, `Subscriber limit reached. Your plan allows ${limit} subscribers.`);
export const emailQuotaExceeded = (limit: number) =>
  detail("EMAIL_QUOTA", 403, `Email quota exceeded. Your plan allows ${limit} emails per month.`);

export const featureNotAvailable = (feature: string, plan: string) =>
  new ApiError("FEATURE_NOT_AVAILABLE", 403, {
    detail: {
      code: "feature_not_available",
      message: `The feature ${feature} is not available on the plan ${plan}.`,
      feature,
      package: plan,
    },
  });

export const dailyQuotaExceeded = (limit: number, current: number, retryAfterSeconds: number) =>
  new ApiError(
    "DAILY_QUOTA",
    429,
    { detail: { code: "rate_limit_exceeded", message: "Daily API call limit exceeded.", limit, current } },
    { retryAfterSeconds },
  );

export const smtpRateLimited = (message: string, retryAfterSeconds: number) =>
  new ApiError(
    "SMTP_RATE_LIMITED",
    429,
    { detail: { code: "smtp_rate_limited", message, limit_type: "hourly" } },
    { retryAfterSeconds },
  );

export const throttled = (seconds: number) =>
  detail(
    "THROTTLED",
    429,
    `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? "" : "s"}.`,
    {
      retryAfterSeconds: seconds,
    },
  );

export const unavailable = (sentence = "The service is not available at the moment.") =>
  detail("UNAVAILABLE", 503, sentence, { retryAfterSeconds: 5, retryable: true });

export const missingObject = (id: string) => `Invalid pk "${id}" - object does not exist.`;
