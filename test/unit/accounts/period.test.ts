import { periodOf } from "../../../services/accounts/plans.ts";
import { apiCallsToday } from "../../../services/lib/limits/limiter.ts";

test("the period is the UTC month, also across years", () => {
  expect(periodOf(new Date("2026-12-31T23:59:59.999Z"))).toEqual({
    start: "2026-12-01T00:00:00.000Z",
    end: "2027-01-01T00:00:00.000Z",
  });
});

describe("today's API calls", () => {
  const at = (time: string) => Date.parse(time);

  test("are counted by key, or by company for people", () => {
    const nowMs = at("2026-11-21T12:00:00Z");
    expect(apiCallsToday({ companyId: "c", apiKeyId: "k" }, null, nowMs).key).toBe("api-calls:k:2026-11-21");
    expect(apiCallsToday({ companyId: "c", userId: "u" }, null, nowMs).key).toBe("api-calls:c:2026-11-21");
  });

  test("reset at midnight UTC", () => {
    expect(apiCallsToday({ companyId: "c" }, null, at("2026-11-21T23:59:59.500Z")).windowMs).toBe(500);
    expect(apiCallsToday({ companyId: "c" }, 10, at("2026-11-22T00:00:00Z"))).toEqual({
      key: "api-calls:c:2026-11-22",
      limit: 10,
      windowMs: 86_400_000,
      buckets: 0,
    });
  });
});
