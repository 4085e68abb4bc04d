/** The only place that turns an error into a status, body and headers. */
import { isDatabaseOutage } from "../../../models/database/outage.ts";
import { type ErrorCode, type ErrorDetails, isServiceError, type ServiceError, unavailable } from "../../lib/errors.ts";

type Body = Record<string, unknown>;

export interface Problem {
  status: number;
  body: Body;
  headers: Record<string, string>;
  /** True for defects: logged with their stack, which never leaves the process. */
  internal: boolean;
  /** Unavailable dependency; only logged. */
  reason?: string;
}

interface Shape<C extends ErrorCode> {
  status: number;
  /** Builds the body; the default is `{detail}` with the sentence. */
  body?: (details: ErrorDetails[C], sentence: string) => Body;
  headers?: (details: ErrorDetails[C]) => Record<string, string>;
}

const retryAfter = ({ retryAfterSeconds }: { retryAfterSeconds: number }) => ({
  "Retry-After": String(Math.ceil(retryAfterSeconds)),
});

const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="api", ApiKey realm="api", header="X-API-Key"' };

const SHAPES: { [C in ErrorCode]: Shape<C> } = {
  INVALID: { status: 400, body: ({ fields }) => fields },
  BAD_REQUEST: { status: 400 },
  WRONG_STATE: { status: 400 },
  UNAUTHENTICATED: { status: 401, headers: () => CHALLENGE },
  TOTP_REQUIRED: {
    status: 401,
    body: (_, message) => ({ detail: message, code: "totp_required" }),
    headers: () => CHALLENGE,
  },
  FORBIDDEN: { status: 403 },
  SUBSCRIBER_LIMIT: { status: 403 },
  EMAIL_QUOTA: { status: 403 },
  MEDIA_QUOTA: { status: 403 },
  FEATURE_NOT_AVAILABLE: {
    status: 403,
    body: ({ feature, plan }, message) => ({
      detail: { code: "feature_not_available", message, feature, package: plan },
    }),
  },
  NOT_FOUND: { status: 404 },
  INVALID_PAGE: { status: 404 },
  CONFLICT: { status: 409 },
  GONE: { status: 410 },
  TOO_LARGE: { status: 413 },
  DAILY_QUOTA: {
    status: 429,
    body: ({ limit, current }, message) => ({ detail: { code: "rate_limit_exceeded", message, limit, current } }),
    headers: retryAfter,
  },
  SMTP_RATE_LIMITED: {
    status: 429,
    body: (_, message) => ({ detail: { code: "smtp_rate_limited", message, limit_type: "hourly" } }),
    headers: retryAfter,
  },
  THROTTLED: { status: 429, headers: retryAfter },
  UNAVAILABLE: { status: 503, headers: retryAfter },
};

/** A refusal on the HTTP level: wrong method or media type, or an incomplete body. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, sentence: string, headers: Record<string, string> = {}) {
    super(sentence);
    this.status = status;
    this.headers = headers;
  }
}

/** Moleculer's errors for a service that is missing, too slow or overloaded. */
const SERVICE_AWAY = new Set([
  "ServiceNotFoundError",
  "ServiceNotAvailableError",
  "RequestTimeoutError",
  "RequestRejectedError",
  "RequestSkippedError",
  "QueueIsFullError",
  "BrokerDisconnectedError",
]);

const isAway = (error: unknown): error is Error =>
  SERVICE_AWAY.has(String((error as Error | null | undefined)?.name)) || isDatabaseOutage(error);

function problemOfService({ code, message, data }: ServiceError): Problem {
  const { status, body, headers } = SHAPES[code] as Shape<ErrorCode>;
  return {
    status,
    body: body?.(data, message) ?? { detail: message },
    headers: headers?.(data) ?? {},
    internal: false,
    ...("reason" in data ? { reason: data.reason } : {}),
  };
}

export function problemOf(error: unknown, requestId: string): Problem {
  if (isServiceError(error) && Object.hasOwn(SHAPES, error.code)) return problemOfService(error);
  if (error instanceof HttpRefusal) {
    return { status: error.status, body: { detail: error.message }, headers: error.headers, internal: false };
  }
  if (isAway(error)) return problemOfService(unavailable(undefined, error));
  return {
    status: 500,
    body: { detail: "Internal server error.", request_id: requestId },
    headers: {},
    internal: true,
  };
}
