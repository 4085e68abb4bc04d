import { queueIdOf } from "../../../services/operator/mail-trace.ts";
import { spansAround } from "../../../services/operator/mail-webhooks.ts";

test.each([
  ["250 2.0.0 Ok: queued as 4XyZ12abc", "4XyZ12abc"],
  ["250 OK id=1tABcd-000000012-3xYz", "1tABcd-000000012-3xYz"],
  ["250 2.0.0 4ARH0Vu6012345-4ARH0Vu7 Message accepted for delivery", undefined],
  ["250 2.0.0 4ARH0Vu6012345 Message accepted for delivery", "4ARH0Vu6012345"],
  ["250 2.6.0 <a@b> [InternalId=12345, Hostname=x] Queued mail for delivery", "12345"],
  [
    "250 Ok 0102018f0a1b2c3d-11111111-2222-3333-4444-555555555555-000000",
    "0102018f0a1b2c3d-11111111-2222-3333-4444-555555555555-000000",
  ],
  ["250 2.0.0 Thanks", undefined],
  [null, undefined],
])("the queue id in %s is %s", (reply, id) => expect(queueIdOf(reply)).toBe(id));

test("times that are close together are searched as one range", () => {
  expect(spansAround([100_000, 105_000, 200_000])).toEqual([
    [98_000, 125_000],
    [198_000, 220_000],
  ]);
  expect(spansAround([])).toEqual([]);
});
