import fc from "fast-check";
import {
  addressKey,
  addressText,
  asciiDomain,
  asciiHost,
  domainOf,
  isAddress,
  sameAddress,
} from "../../services/lib/address.ts";
import { addressSpec } from "../../services/renderer/mime/headers.ts";
import { wireAddress } from "../../services/smtp-sender/delivery/envelope-sender.ts";

describe("an address", () => {
  test.each([
    "ann@example.com",
    "Ann.O'Neil+news@Sub.Example.co.uk",
    "jörg@bücher.example",
    "ann@BÜCHER.example",
    "ann@bu\u0308cher.example",
    "ann@xn--bcher-kva.example",
    "ann@straße.example",
    "δοκιμή@παράδειγμα.δοκιμή",
    "我買@屋企.香港",
    "ann@مثال.إختبار",
  ])("can be %j", (address) => expect(isAddress(address)).toBe(true));

  test.each([
    "ann",
    "@example.com",
    "ann@localhost",
    "ann@example..com",
    "ann@-example.com",
    "ann@127.0.0.1",
    "ann@[127.0.0.1]",
    '"ann b"@example.com',
    "ann@a@example.com",
    "ann,bob@example.com",
    "ann <bob@example.com>",
    "a\r\nBcc: x@example.com",
    "a\u0000@example.com",
    "a\u202e@example.com",
    `${"a".repeat(65)}@example.com`,
    `ann@${"a.".repeat(126)}example.com`,
  ])("cannot be %j", (address) => expect(isAddress(address)).toBe(false));

  // A URL parser reads each of these as example.com, so a suppression of example.com would not stop them.
  test.each([
    "example.com/x",
    "example.com?x",
    "example.com#x",
    "example.com\\x",
    "ex%61mple.com",
    "exa\r\nmple.com",
    "exa\tmple.com",
    "example.com\r\n",
    " example.com",
    "example.com\u2028",
    "example.com\u00a0",
    "example.com.",
    "example。com",
    "exam\u00adple.com",
    "ｅxample.com",
    "exam\u200bple.com",
  ])("is not accepted in %j, although URL parsers read a domain from it", (domain) => {
    expect(isAddress(`ann@${domain}`)).toBe(false);
  });

  const AROUND = [
    "example.com/x",
    "example.com?x",
    "example.com#x",
    "example.com\\x",
    "example.com:25",
    "ann@example.com",
    "ex%61mple.com",
    "example%2ecom",
    "exa\r\nmple.com",
    "exa\tmple.com",
    "http://example.com",
    "//example.com",
  ];
  test.each(AROUND)("%j is neither a host nor a domain", (text) => {
    expect([asciiHost(text), asciiDomain(text), asciiDomain(`${text}.`)]).toEqual([null, null, null]);
  });

  test.each([
    [" Example.COM ", "example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["mail_1", "mail_1"],
    ["localhost", "localhost"],
  ])("%j has the host %j", (text, host) => expect(asciiHost(text)).toBe(host));

  test("every accepted address has one domain, equal in envelope, header and suppressions", () => {
    const piece = fc.oneof(
      fc.constantFrom("a", "b.com", ".", "@", "%61", "/", "#", "?", "\\", ":", "\r\n", "\t", " ", "ü", "ß", "\u00ad"),
      fc.constantFrom("。", "１", "xn--", "-", "<", ">", "(", ")", ",", ";", '"', "\u2028", "\u202e", "İ", "Σ"),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => `ann@${pieces.join("")}x.example`);
    fc.assert(
      fc.property(text, (address) => {
        if (!isAddress(address)) return;
        const domain = asciiDomain(domainOf(address))!;
        const inHeader = addressSpec(address);
        const { text: inEnvelope } = wireAddress(address);
        for (const written of [inHeader, inEnvelope]) {
          expect(domainOf(written).toLowerCase()).toBe(domain);
          expect(written).toMatch(/^[^\s<>(),;:\\"[\]\u0000-\u0020\u007f]+$/);
        }
      }),
      { numRuns: process.env.FUZZ === "long" ? 3_000 : 600 },
    );
  });

  test("a cached domain is judged as at first, however many others followed", () => {
    const judged = () =>
      ["a@good.example", "a@b.com/x", "a@good.example ", "a b@good.example", "a@GOOD.example"].map(isAddress);
    const first = judged();
    expect(first).toEqual([true, false, false, false, true]);
    expect(judged()).toEqual(first);
    for (let n = 0; n < 3_000; n++) expect(isAddress(`a@d${n}.example`)).toBe(true);
    for (let n = 0; n < 3_000; n += 500) expect(isAddress(`a@d${n}_.example`)).toBe(false);
    expect(judged()).toEqual(first);
  });

  test.each([
    "j\u00f6rg@b\u00fccher.example",
    "JO\u0308RG@BU\u0308CHER.Example",
    "jo\u0308rg@xn--bcher-kva.example",
    "J\u00d6RG@XN--BCHER-KVA.EXAMPLE",
  ])("has the key of its own mailbox only: %j", (spelling) => {
    expect(addressKey(spelling)).toBe("j\u00f6rg@xn--bcher-kva.example");
    expect(sameAddress(spelling, "j\u00f6rg@xn--bcher-kva.example")).toBe(true);
    expect(sameAddress(spelling, "jorg@xn--bcher-kva.example")).toBe(false);
    expect(sameAddress(spelling, "j\u00f6rg@bucher.example")).toBe(false);
  });
});

describe("a pasted address", () => {
  test("loses white space and invisible characters at its ends only", () => {
    expect(addressText("\u200b\u202a ann@example.com\u202c\u{e0020}\u00a0\u00ad ")).toBe("ann@example.com");
    expect(addressText("an\u200bn@example.com")).toBe("an\u200bn@example.com");
    expect(addressText("\u{1f600}@example.com\u{1f600}")).toBe("\u{1f600}@example.com\u{1f600}");
    expect([addressText(" \u200b "), addressText("")]).toEqual(["", ""]);
  });

  test("a million blanks before a letter are handled quickly", () => {
    const long = ` x${" ".repeat(1_000_000)}x`;
    const began = performance.now();
    expect(addressText(long)).toBe(long.slice(1));
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
