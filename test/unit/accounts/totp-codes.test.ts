import {
  newRecoveryCodes,
  newTotpSecret,
  recoveryHash,
  stepOfCode,
  totpUri,
} from "../../../services/accounts/people/totp-codes.ts";
import { totpCode, totpStep } from "../../support/totp.ts";

// RFC 6238, appendix B: the secret "12345678901234567890", SHA-1, the last six digits of eight.
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("at %i the code is %s, as in RFC 6238", (seconds, code) => {
  expect(stepOfCode(SECRET, code, seconds * 1_000)).toBe(Math.floor(seconds / 30));
});

test("a code is accepted one step before and after its time", () => {
  const now = 1_234_567_890_000;
  const step = totpStep(now);
  for (const off of [-1, 0, 1]) expect(stepOfCode(SECRET, totpCode(SECRET, step + off), now)).toBe(step + off);
  for (const off of [-2, 2]) expect(stepOfCode(SECRET, totpCode(SECRET, step + off), now)).toBeNull();
});

test.each(["", "12345", "1234567", "abcdef", "１２３４５６", "-12345"])("%j is not a code", (code) => {
  expect(stepOfCode(SECRET, code)).toBeNull();
});

test("an authenticator link contains service, account and secret, whatever their names", () => {
  const link = totpUri(SECRET, "Flock: mäil & co", "ada+one@example.com");
  const name = "Flock%20m%C3%A4il%20%26%20co";
  expect(link).toBe(`otpauth://totp/${name}:ada%2Bone%40example.com?secret=${SECRET}&issuer=${name}`);
});

test("secrets are 20 random bytes in base32", () => {
  const secrets = Array.from({ length: 50 }, newTotpSecret);
  expect(new Set(secrets).size).toBe(50);
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/);
});

test("there are ten different recovery codes, accepted in any notation", () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^[a-z2-9]{5}-[a-z2-9]{5}$/);
    expect(recoveryHash(` ${code.toUpperCase().replace("-", " ")} `)).toEqual(recoveryHash(code));
  }
});
