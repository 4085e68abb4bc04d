import { Errors } from "moleculer";
import { problemOf } from "../../../services/gateway/http/problems.ts";
import {
  dailyQuotaExceeded,
  featureNotAvailable,
  gone,
  invalid,
  smtpRateLimited,
  throttled,
  unauthenticated,
} from "../../../services/lib/errors.ts";

describe("an error that reaches the gateway", () => {
  test("has its status and body from the catalogue, and its Retry-After", () => {
    expect(problemOf(throttled(45), "r")).toEqual({
      status: 429,
      body: { detail: "Request was throttled. Expected available in 45 seconds." },
      headers: { "Retry-After": "45" },
      internal: false,
    });
    expect(problemOf(dailyQuotaExceeded(10, 10, 0.2), "r").headers).toEqual({ "Retry-After": "1" });
  });

  test.each([
    [invalid({ email: ["Enter a valid email address."] }), 400, { email: ["Enter a valid email address."] }],
    [unauthenticated("Invalid API key."), 401, { detail: "Invalid API key." }],
    [
      featureNotAvailable("segments", "free"),
      403,
      {
        detail: {
          code: "feature_not_available",
          message: "The feature segments is not available on the plan free.",
          feature: "segments",
          package: "free",
        },
      },
    ],
    [
      smtpRateLimited("Wait.", 75),
      429,
      { detail: { code: "smtp_rate_limited", message: "Wait.", limit_type: "hourly" } },
    ],
    [gone("This link has expired."), 410, { detail: "This link has expired." }],
  ])("%s is the same locally and, as a plain error, over NATS", (error, status, body) => {
    const { name, message, code, data, retryable } = error;
    const remote = Object.assign(new Error(message), JSON.parse(JSON.stringify({ name, code, data, retryable })));
    for (const one of [error, remote]) expect(problemOf(one, "r")).toMatchObject({ status, body, internal: false });
  });

  test("is a 500 with a code unknown to this version", () => {
    const error = Object.assign(new Error("new"), { name: "ServiceError", code: "FROM_THE_FUTURE", data: {} });
    expect(problemOf(error, "r").status).toBe(500);
  });

  test.each([
    new Errors.ServiceNotFoundError({ action: "x.y" }),
    new Errors.ServiceNotAvailableError({ action: "x.y", nodeID: "n" }),
    new Errors.RequestTimeoutError({ action: "x.y", nodeID: "n" }),
    Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" }),
    Object.assign(new Error("terminating connection due to administrator command"), { code: "57P01" }),
    Object.assign(new Error(""), { name: "SequelizeConnectionRefusedError" }),
    new Error("timeout exceeded when trying to connect"),
    new Error("Connection terminated unexpectedly"),
  ])("is a 503 if it means an unavailable dependency: %s", (error) => {
    expect(problemOf(error, "r")).toMatchObject({ status: 503, headers: { "Retry-After": "5" }, internal: false });
  });

  test.each([
    new TypeError("x is not a function"),
    Object.assign(new Error("duplicate key value"), { code: "23505" }),
    // A remote error may carry a numeric code; only the catalogue's codes become a status.
    Object.assign(new Error("secret"), { code: 404 }),
    "a string",
    null,
    undefined,
  ])("is a 500 without its message if of any other kind: %s", (error) => {
    expect(problemOf(error, "r-1")).toEqual({
      status: 500,
      body: { detail: "Internal server error.", request_id: "r-1" },
      headers: {},
      internal: true,
    });
  });
});
