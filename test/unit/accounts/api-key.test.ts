import fc from "fast-check";
import { base62, hashKey, looksLikeKey, newKey } from "../../../services/accounts/key-authentication.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("an API key", () => {
  test("has a format, a prefix for the list, and a hash", () => {
    const { key, prefix, keyHash } = newKey();
    expect(key).toMatch(/^fm_[0-9A-Za-z]{43}$/);
    expect(looksLikeKey(key)).toBe(true);
    expect(key.startsWith(prefix)).toBe(true);
    expect(prefix).toHaveLength(9);
    expect(keyHash).toEqual(hashKey(key));
  });

  test.each([
    "",
    "fm_",
    "fm_short",
    `sk_${"a".repeat(43)}`,
    `fm_${"a".repeat(44)}`,
    `fm_${"a".repeat(42)}-`,
    `fm_${"a".repeat(43)}\n`,
  ])("is not %j", (text) => expect(looksLikeKey(text)).toBe(false));

  test("encodes every 32 bytes in 43 characters that can be decoded", () => {
    const read = (text: string) => [...text].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const text = base62(Buffer.from(bytes));
        return text.length === 43 && read(text) === BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
      }),
    );
    expect(base62(Buffer.alloc(32))).toBe("0".repeat(43));
    expect(base62(Buffer.alloc(32, 255))).toHaveLength(43);
  });
});
