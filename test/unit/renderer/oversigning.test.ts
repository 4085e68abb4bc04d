/** A field that is added on the way breaks the signature (RFC 6376 section 8.15), as mailauth verifies it. */
import { generateKeyPairSync } from "node:crypto";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { fieldOf } from "../../support/message.ts";
import { makeMail } from "../../support/render.ts";

function keysOf(type: "rsa" | "ed25519") {
  const pair = type === "rsa" ? generateKeyPairSync(type, { modulusLength: 2048 }) : generateKeyPairSync(type);
  const der = pair.publicKey.export({ type: "spki", format: "der" });
  // RFC 8463: the bare 32 bytes of an Ed25519 key, which end the DER form.
  const p = (type === "rsa" ? der : der.subarray(-32)).toString("base64");
  const privateKey = String(pair.privateKey.export({ type: "pkcs8", format: "pem" }));
  return { dkim: { domain: "example.org", selector: "s1", privateKey }, record: `v=DKIM1; k=${type}; p=${p}` };
}

const FIELDS = {
  From: "evil@example.com",
  To: "eve@example.com",
  Cc: "eve@example.com",
  Subject: "Another",
  Date: "Thu, 01 Jan 1970 00:00:00 +0000",
  "Reply-To": "evil@example.com",
  "List-Unsubscribe": "<https://evil.example/>",
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  "Content-Type": "text/html",
};

describe.each(["rsa", "ed25519"] as const)("a signature by %s", (type) => {
  const { dkim, record } = keysOf(type);
  const result = async (message: Buffer) => {
    const { results } = await dkimVerify(message, { resolver: async () => [[record]] });
    return results[0]!.status.result;
  };
  const recipients = { "without copies": {}, "with copies": { cc: ["carl@example.com"] } };

  describe.each(Object.entries(recipients))("of an email to %s", (_name, to) => {
    test("is valid if nothing is changed, also when the same signer has signed others", async () => {
      for (let n = 0; n < 3; n++) expect(await result((await makeMail({ dkim: [dkim] }, to)).message)).toBe("pass");
    });

    test.each(Object.entries(FIELDS))("breaks when a %s is added, above or below the others", async (name, value) => {
      const text = (await makeMail({ dkim: [dkim] }, to)).message.toString("latin1");
      const added = `${name}: ${value}\r\n`;
      const end = text.indexOf("\r\n\r\n") + 2;
      for (const changed of [added + text, text.slice(0, end) + added + text.slice(end)]) {
        expect(await result(Buffer.from(changed, "latin1"))).not.toBe("pass");
      }
    });

    test("is valid when a relay adds permitted fields", async () => {
      const text = (await makeMail({ dkim: [dkim] }, to)).message.toString("latin1");
      const added = `Received: from a by b; Thu, 01 Jan 1970 00:00:00 +0000\r\nX-Spam: no\r\n${text}`;
      expect(await result(Buffer.from(added, "latin1"))).toBe("pass");
    });
  });
});

describe("Auto-Submitted", () => {
  test("is set on receipts, which no person wrote, and on no other mail", async () => {
    const field = async (isTransactional: boolean) =>
      fieldOf((await makeMail({ isTransactional })).message, "Auto-Submitted");
    expect(await field(true)).toBe("auto-generated");
    expect(await field(false)).toBeUndefined();
  });
});
