/**
 * Defines the error catalogue: every error that a caller can cause or has to wait for. Services throw what these
 * functions return: a code, a sentence and details. It knows nothing of HTTP: status, headers and body belong to the
 * gateway (services/gateway/http/problems.ts). Any other exception is a defect: a 500 whose message stays internal.
 */

import { sizeText } from "./size-text.ts";

/** Sentences by invalid field. */
export type FieldErrors = Record<string, string[]>;

type None = Record<string, never>;

/** Details of each code. */
export interface ErrorDetails {
  /** A field is invalid. */
  INVALID: { fields: FieldErrors };
  BAD_REQUEST: None;
  /** The thing exists, but not in a state that allows this. */
  WRONG_STATE: None;
  UNAUTHENTICATED: None;
  /** The password was correct, and a second factor is required. */
  TOTP_REQUIRED: None;
  FORBIDDEN: None;
  /** Does not exist, or belongs to another company. */
  NOT_FOUND: None;
  INVALID_PAGE: None;
  CONFLICT: None;
  /** Existed, and has expired. */
  GONE: None;
  TOO_LARGE: None;
  SUBSCRIBER_LIMIT: None;
  EMAIL_QUOTA: None;
  MEDIA_QUOTA: None;
  FEATURE_NOT_AVAILABLE: { feature: string; plan: string };
  DAILY_QUOTA: { limit: number; current: number; retryAfterSeconds: number };
  SMTP_RATE_LIMITED: { retryAfterSeconds: number };
  THROTTLED: { retryAfterSeconds: number };
  /** `reason` is only logged. `elsewhere`: another node may be asked. */
  UNAVAILABLE: { retryAfterSeconds: number; reason?: string; elsewhere?: boolean };
}

export type ErrorCode = keyof ErrorDetails;

/**
 * Moleculer transports only name, message, code, data and retryable over NATS, not the class, so the details are in
 * `data`.
 */
export class ServiceError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "ServiceError";
  readonly code: C;
  readonly data: ErrorDetails[C];
  /**
   * Tells callers whether to retry; Moleculer itself retries a call with `retries` only if no node answered
   * (moleculer.config.ts).
   */
  readonly retryable: boolean;

  constructor(code: C, message: string, data: ErrorDetails[C], options: ErrorOptions & { retryable?: boolean } = {}) {
    super(message, options);
    this.code = code;
    this.data = data;
    this.retryable = options.retryable ?? false;
  }
}

/** True for our errors, also after transport as a plain error; with a code, only for that code. */
export function isServiceError<C extends ErrorCode>(error: unknown, code?: C): error is ServiceError<C> {
  const e = error as ServiceError | null | undefined;
  if (e?.name !== "ServiceError" || typeof e.code !== "string") return false;
  return code === undefined || e.code === code;
}

const plain = <C extends { [K in ErrorCode]: None extends ErrorDetails[K] ? K : never }[ErrorCode]>(
  code: C,
  sentence: string,
) => new ServiceError(code, sentence, {} as ErrorDetails[C]);

// Maximum fields named in the message; the details name all.
const MAX_FIELDS_IN_MESSAGE = 5;

function sentenceOf(fields: FieldErrors): string {
  const first = Object.entries(fields).slice(0, MAX_FIELDS_IN_MESSAGE);
  return first.map(([field, [sentence]]) => `${field}: ${sentence}`).join(" ");
}

export const invalid = (fields: FieldErrors) => new ServiceError("INVALID", sentenceOf(fields), { fields });
export const badRequest = (sentence: string) => plain("BAD_REQUEST", sentence);
export const wrongState = (sentence: string) => plain("WRONG_STATE", sentence);
export const notFound = () => plain("NOT_FOUND", "Not found.");
export const invalidPage = () => plain("INVALID_PAGE", "Invalid page.");
export const gone = (sentence: string) => plain("GONE", sentence);
export const conflict = (sentence: string) => plain("CONFLICT", sentence);
export const tooLarge = (sentence: string) => plain("TOO_LARGE", sentence);
export const forbidden = (sentence = "You do not have permission to perform this action.") =>
  plain("FORBIDDEN", sentence);
export const unauthenticated = (sentence = "Authentication credentials were not provided.") =>
  plain("UNAUTHENTICATED", sentence);

export const totpRequired = () => plain("TOTP_REQUIRED", "Enter a code from your authenticator.");

export const subscriberLimitReached = (limit: number) =>
  plain("SUBSCRIBER_LIMIT", `Subscriber limit reached. Your plan allows ${limit} subscribers.`);
export const emailQuotaExceeded = (limit: number) =>
  plain("EMAIL_QUOTA", `Email quota exceeded. Your plan allows ${limit} emails per month.`);

export const mediaQuotaExceeded = (limit: number) =>
  plain("MEDIA_QUOTA", `Media storage is full. Your plan allows ${sizeText(limit)}.`);

export const featureNotAvailable = (feature: string, plan: string) =>
  new ServiceError("FEATURE_NOT_AVAILABLE", `The feature ${feature} is not available on the plan ${plan}.`, {
    feature,
    plan,
  });

export const dailyQuotaExceeded = (limit: number, current: number, retryAfterSeconds: number) =>
  new ServiceError("DAILY_QUOTA", "Daily API call limit exceeded.", { limit, current, retryAfterSeconds });

export const smtpRateLimited = (sentence: string, retryAfterSeconds: number) =>
  new ServiceError("SMTP_RATE_LIMITED", sentence, { retryAfterSeconds });

export const throttled = (retryAfterSeconds: number) =>
  new ServiceError(
    "THROTTLED",
    `Request was throttled. Expected available in ${retryAfterSeconds} second${retryAfterSeconds === 1 ? "" : "s"}.`,
    { retryAfterSeconds },
  );

const RETRY_SECONDS = 5;

const NOT_AVAILABLE = "The service is not available at the moment.";

export const unavailable = (sentence = NOT_AVAILABLE, cause?: Error) =>
  new ServiceError(
    "UNAVAILABLE",
    sentence,
    { retryAfterSeconds: RETRY_SECONDS, ...(cause ? { reason: cause.message || cause.name } : {}) },
    { retryable: true, ...(cause ? { cause } : {}) },
  );

/** Error of a node that cannot serve the call: nothing was done, and another node may be asked at once. */
export const availableElsewhere = (reason: string) =>
  new ServiceError(
    "UNAVAILABLE",
    NOT_AVAILABLE,
    { retryAfterSeconds: RETRY_SECONDS, reason, elsewhere: true },
    { retryable: true },
  );

export const missingObject = (id: string) => `Invalid pk "${id}" - object does not exist.`;
