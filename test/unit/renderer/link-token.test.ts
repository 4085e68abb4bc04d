import { randomBytes, randomUUID } from "node:crypto";
import { addressToken, LinkTokens, readLinkToken } from "../../../services/lib/tokens/link-token.ts";

const key = randomBytes(32);
const id = "018f0000-0000-7000-8000-0123456789ab";

describe("tokens of tracked links", () => {
  test("contain their email and link number, also beyond one character", () => {
    const made = new LinkTokens(key, id);
    const tokens = Array.from({ length: 4201 }, (_, link) => made.text(link));
    for (const link of [0, 1, 7, 8, 63, 64, 4095, 4096, 4097, 4200]) {
      expect(tokens[link]).toMatch(/^[\w-]{36}$/);
      expect(readLinkToken([key], tokens[link]!)).toEqual({ sentEmailId: id, link });
    }
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  test("contain any mail id", () => {
    for (let i = 0; i < 50; i++) {
      const any = randomUUID();
      const tokens = new LinkTokens(key, any);
      for (const link of [0, 1, 2, 3]) expect(readLinkToken([key], tokens.text(link))?.sentEmailId).toBe(any);
    }
  });

  test("are invalid with one changed character", () => {
    const token = new LinkTokens(key, id).text(1);
    for (let i = 0; i < token.length; i++) {
      const other = token[i] === "A" ? "B" : "A";
      expect(readLinkToken([key], token.slice(0, i) + other + token.slice(i + 1))).toBeNull();
    }
  });

  test("are valid when signed with an earlier key, and invalid with a foreign key", () => {
    const token = new LinkTokens(key, id).text(0);
    expect(readLinkToken([randomBytes(32), key], token)).not.toBeNull();
    expect(readLinkToken([randomBytes(32)], token)).toBeNull();
  });

  test("have an address that cannot be exchanged", () => {
    const token = addressToken(key, id, 3, "https://shop.example/Größe?a=b&c=d");
    expect(readLinkToken([key], token)).toEqual({
      sentEmailId: id,
      link: 3,
      url: "https://shop.example/Größe?a=b&c=d",
    });
    const evil = Buffer.from(token, "base64url").toString("latin1").replace("shop.example", "evil.example");
    expect(readLinkToken([key], Buffer.from(evil, "latin1").toString("base64url"))).toBeNull();
  });
});
