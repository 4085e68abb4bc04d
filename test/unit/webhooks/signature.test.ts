import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { retryAfterSeconds } from "../../../services/webhooks/attempt.ts";
import { newSecret, signedHeaders, signingKey } from "../../../services/webhooks/signature.ts";

test("the standardwebhooks library accepts our signature of any body", () => {
  const secret = newSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  fc.assert(
    fc.property(fc.json(), fc.uuid(), (body, id) => {
      new Webhook(secret).verify(body, signedHeaders([signingKey(secret)], id, body));
    }),
  );
});

test("either of two secrets verifies, and no third one", () => {
  const [now, before, other] = [newSecret(), newSecret(), newSecret()];
  const headers = signedHeaders([now, before].map(signingKey), "id", "{}");
  expect(headers["webhook-signature"].split(" ")).toHaveLength(2);
  for (const secret of [now, before]) expect(new Webhook(secret).verify("{}", headers)).toEqual({});
  expect(() => new Webhook(other).verify("{}", headers)).toThrow();
});

test("our signature equals the library's byte for byte", () => {
  const secret = newSecret();
  const at = new Date();
  const headers = signedHeaders([signingKey(secret)], "msg", '{"a":1}', at);
  expect(headers["webhook-signature"]).toBe(new Webhook(secret).sign("msg", at, '{"a":1}'));
});

test("a delivery is dead after seven retries over 17.6 hours", () => {
  const waits = Array.from({ length: 8 }, (_, n) => retryAfterSeconds(n + 1));
  expect(waits).toEqual([5, 30, 300, 1_800, 7_200, 18_000, 36_000, null]);
});
