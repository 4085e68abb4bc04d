/** Response headers: described once, referenced by name. */
const text = { type: "string" };
const integer = { type: "integer" };
const header = (description: string, schema: object, example: unknown) => ({ description, schema, example });

export const headerComponents = {
  RequestId: header("Request id, as in the service's log.", text, "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"),
  Limit: header("API calls per day; absent where the plan has no limit.", integer, 100_000),
  Remaining: header("Calls left today (UTC).", integer, 99_217),
  Reset: header("Time when the count resets, in seconds since 1970.", integer, 1_791_504_000),
  RetryAfter: header("Seconds to wait before retrying.", integer, 30),
  Allow: header("Methods that the path supports.", text, "GET, POST"),
  WWWAuthenticate: header("How to authenticate.", text, 'Bearer realm="api", ApiKey realm="api", header="X-API-Key"'),
  Location: header("Target of the redirect.", { type: "string", format: "uri" }, "https://lantern.example/books"),
};

const ref = (name: keyof typeof headerComponents) => ({ $ref: `#/components/headers/${name}` });

export const requestIdHeader = { "X-Request-Id": ref("RequestId") };
export const rateLimitHeaders = {
  "X-RateLimit-Limit": ref("Limit"),
  "X-RateLimit-Remaining": ref("Remaining"),
  "X-RateLimit-Reset": ref("Reset"),
};
export const allowHeader = { Allow: ref("Allow") };
export const retryAfterHeader = { "Retry-After": ref("RetryAfter") };
export const authenticateHeader = { "WWW-Authenticate": ref("WWWAuthenticate") };
export const locationHeader = { Location: ref("Location") };
