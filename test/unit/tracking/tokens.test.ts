import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { newId } from "../../../services/lib/ids.ts";
import { addressToken, LinkTokens, readLinkToken } from "../../../services/lib/tokens/link-token.ts";

process.env.SECRET_KEY = "unit-test-secret-unit-test-secret";

import { personToken, readPersonToken } from "../../../services/lib/tokens/person-token.ts";

const key = randomBytes(32);
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Returns every change of one character of a token. */
function* tampered(token: string): Generator<string> {
  for (let at = 0; at < token.length; at++) {
    const other = ALPHABET[(ALPHABET.indexOf(token[at]!) + 1) % ALPHABET.length];
    yield token.slice(0, at) + other + token.slice(at + 1);
  }
}

describe("link tokens", () => {
  test("decode to their message and link", () => {
    const id = newId();
    const tokens = new LinkTokens(key, id);
    for (let link = 0; link <= 40; link++) {
      expect(readLinkToken([randomBytes(32), key], tokens.text(link))).toEqual({ sentEmailId: id, link });
    }
  });

  test("are refused with any changed character, other length or other key", () => {
    const id = newId();
    for (const token of [new LinkTokens(key, id).text(2), addressToken(key, id, 2, "https://example.com/a?b=c")]) {
      for (const forged of tampered(token)) expect(readLinkToken([key], forged)).toBeNull();
      for (const forged of [token.slice(1), token.slice(0, -1), `${token}A`, `${token}=`, ` ${token}`]) {
        expect(readLinkToken([key], forged)).toBeNull();
      }
      expect(readLinkToken([randomBytes(32)], token)).toBeNull();
    }
  });

  test("contain an address unchanged", () => {
    fc.assert(
      fc.property(
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        fc.integer({ min: 1, max: 65_535 }),
        (url, link) => {
          const id = newId();
          expect(readLinkToken([key], addressToken(key, id, link, url))).toEqual({ sentEmailId: id, link, url });
        },
      ),
    );
  });

  test("are not found in random text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 5_000 }), (text) => readLinkToken([key], text) === null),
    );
  });
});

describe("person tokens", () => {
  const [companyId, subscriberId] = [newId(), newId()];

  test("contain company and subscriber, with or without an expiry", () => {
    const lasting = personToken("preferences", companyId, subscriberId);
    expect(readPersonToken("preferences", lasting)).toEqual({
      companyId,
      subscriberId,
      expiresAt: null,
      expired: false,
    });
    const until = new Date(Date.now() + 60_000);
    const short = personToken("confirm", companyId, subscriberId, until);
    expect(readPersonToken("confirm", short)).toMatchObject({ expired: false });
    expect(readPersonToken("confirm", short, until.getTime() + 1_000)).toMatchObject({ subscriberId, expired: true });
  });

  test("have kinds that cannot be confused or changed", () => {
    const token = personToken("confirm", companyId, subscriberId, new Date(Date.now() + 60_000));
    expect(readPersonToken("preferences", token)).toBeNull();
    for (const forged of tampered(token)) expect(readPersonToken("confirm", forged)).toBeNull();
    for (const forged of ["", "x", token.slice(1), `${token}AAAA`])
      expect(readPersonToken("confirm", forged)).toBeNull();
  });

  test("may contain a list, which cannot be removed, changed or added", () => {
    const listId = newId();
    // Tokens contain whole seconds.
    const until = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 60_000);
    const token = personToken("confirm", companyId, subscriberId, until, listId);
    const whole = { companyId, subscriberId, subjectId: listId, expiresAt: until, expired: false };
    expect(readPersonToken("confirm", token)).toEqual(whole);
    for (const forged of tampered(token)) expect(readPersonToken("confirm", forged)).toBeNull();
    const bytes = Buffer.from(token, "base64url");
    const cut = Buffer.concat([bytes.subarray(0, 36), bytes.subarray(52)]).toString("base64url");
    expect(readPersonToken("confirm", cut)).toBeNull();
    const without = Buffer.from(personToken("confirm", companyId, subscriberId, until), "base64url");
    const grown = Buffer.concat([without.subarray(0, 36), bytes.subarray(36, 52), without.subarray(36)]);
    expect(readPersonToken("confirm", grown.toString("base64url"))).toBeNull();
  });
});
