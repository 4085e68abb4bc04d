import { createHmac, randomBytes } from "node:crypto";
import { ShortHmac } from "../../services/lib/hmac.ts";

describe("an HMAC of short texts with one key", () => {
  test.each([0, 1, 32, 63, 64])("is the library's, with a key of %d bytes, text after text", (keyBytes) => {
    const key = randomBytes(keyBytes);
    for (const textBytes of [0, 1, 36, 52, 64, 200]) {
      const hmac = new ShortHmac(key, textBytes);
      for (let n = 0; n < 20; n++) {
        const text = randomBytes(textBytes);
        text.copy(hmac.text);
        const expected = createHmac("sha256", key).update(text).digest("hex");
        expect(Buffer.from(hmac.digest(), "latin1").toString("hex")).toBe(expected);
      }
    }
  });

  test("takes no key that would have to be hashed first", () => {
    expect(() => new ShortHmac(randomBytes(65), 10)).toThrow("more than 64 bytes");
  });
});
