import { randomBytes, randomInt } from "node:crypto";
import { isAddress } from "../../../services/lib/address.ts";
import {
  BOUNCE_TOKEN_LENGTH,
  BounceTokens,
  bounceAddressError,
  tokenAddress,
  tokenOf,
} from "../../../services/lib/tokens/bounce-token.ts";
import { envelopeSender } from "../../../services/smtp-sender/delivery/envelope-sender.ts";

const tokens = new BounceTokens(randomBytes(32));
const EDGES = [-(2 ** 31), -1, 0, 1, 2 ** 31 - 1];

/** Mail servers may change upper and lower case. */
const mixed = (text: string) => [...text].map((c) => (randomInt(2) ? c.toUpperCase() : c)).join("");

describe("the token of the envelope sender", () => {
  test("identifies the message or its copies, in any case", () => {
    for (const campaign_no of EDGES) {
      for (const seq of EDGES) {
        for (const copy of [false, true]) {
          const token = tokens.of({ campaign_no, seq }, copy);
          expect(token).toMatch(/^[a-z2-7]{26}$/);
          expect(tokens.read(mixed(token))).toEqual({ campaign_no, seq, copy });
        }
      }
    }
  });

  test("is the same for every attempt, and different for every message", () => {
    const made = Array.from({ length: 5_000 }, (_, seq) => tokens.of({ campaign_no: 7, seq }));
    expect(new Set(made).size).toBe(5_000);
    expect(Array.from({ length: 5_000 }, (_, seq) => tokens.of({ campaign_no: 7, seq }))).toEqual(made);
  });

  test("is valid in its own installation only, and not if one character differs", () => {
    const token = tokens.of({ campaign_no: 7, seq: 12 });
    expect(new BounceTokens(randomBytes(32)).read(token)).toBeNull();
    for (let at = 0; at < token.length; at++) {
      for (const character of "ab7") {
        if (token[at] === character) continue;
        expect(tokens.read(token.slice(0, at) + character + token.slice(at + 1))).toBeNull();
      }
    }
    for (const wrong of ["", "a", token.slice(1), `${token}a`, token.replace(/.$/, "1"), `${token.slice(1)}ä`]) {
      expect(tokens.read(wrong)).toBeNull();
    }
  });

  test("is placed behind the last + before the @, and parsing returns both", () => {
    const token = tokens.of({ campaign_no: 7, seq: 12 });
    for (const address of ["bounces@b.example", "acme+bounces@b.example", "b@bücher.example"]) {
      const verp = tokenAddress(address, token);
      expect(isAddress(verp)).toBe(true);
      expect(tokenOf(verp)).toEqual({ bounceAddress: address, token });
      expect(tokenOf(verp.toUpperCase())!.token).toBe(token);
    }
    for (const none of ["b@b.example", "b+x@b.example", "x", "", `+${token}@b.example`, `${token}@b.example`]) {
      expect(tokenOf(none)).toBeNull();
    }
  });

  test("keeps the local part within 64 octets and the address within 254, or refuses the bounce address", () => {
    const token = tokens.of({ campaign_no: 7, seq: 12 });
    const label = "d".repeat(63);
    const longest = `${"l".repeat(37)}@b.example`;
    expect(bounceAddressError(longest)).toBeUndefined();
    expect(tokenAddress(longest, token).split("@")[0]).toHaveLength(64);
    expect(bounceAddressError(`l${longest}`)).toContain("at most 37 octets");
    // Every letter takes two octets.
    expect(bounceAddressError(`${"ü".repeat(19)}@b.example`)).toContain("at most 37 octets");
    const domain = `${label}.${label}.${label}.`;
    const wide = `bo@${domain}${"e".repeat(32)}`;
    expect(tokenAddress(wide, token)).toHaveLength(254);
    expect(bounceAddressError(wide)).toBeUndefined();
    expect(bounceAddressError(`b${wide}`)).toContain(`At most ${254 - 1 - BOUNCE_TOKEN_LENGTH} octets`);
    // Encoded as it is sent (punycode).
    expect(bounceAddressError(`bo@${domain}${"ü".repeat(30)}.example`)).toContain("octets");
  });
});

describe("the envelope sender", () => {
  const mail = { campaign_no: 3, seq: 9 };
  const of = (bounce_address: string | null) =>
    envelopeSender({ sender_email: "news@bücher.example", bounce_address }, tokens);

  test("is the campaign's sender without a bounce address", () => {
    expect(of(null)(mail, false)).toEqual({ text: "news@xn--bcher-kva.example", smtpUtf8: false });
  });

  test("has a different token for each message and for its copies", () => {
    const sender = of("bounces@bücher.example");
    expect(sender(mail, false)).toEqual({
      text: `bounces+${tokens.of(mail)}@xn--bcher-kva.example`,
      smtpUtf8: false,
    });
    expect(sender(mail, true).text).toBe(`bounces+${tokens.of(mail, true)}@xn--bcher-kva.example`);
  });

  test("needs SMTPUTF8 for a non-ASCII local part, and is sent as UTF-8", () => {
    const { text, smtpUtf8 } = of("rückläufer@bücher.example")(mail, false);
    expect(smtpUtf8).toBe(true);
    expect(Buffer.from(text, "latin1").toString()).toBe(`rückläufer+${tokens.of(mail)}@xn--bcher-kva.example`);
  });
});
