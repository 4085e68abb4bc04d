import { generateKeyPairSync } from "node:crypto";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { makeMail } from "../../support/render.ts";

type Keys = { privateKey: string; record: string };

function rsa(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const p = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  return { privateKey: String(privateKey.export({ type: "pkcs8", format: "pem" })), record: `v=DKIM1; k=rsa; p=${p}` };
}

function ed25519(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  // RFC 8463: the bare 32 bytes, which end the DER form.
  const p = publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("base64");
  return {
    privateKey: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    record: `v=DKIM1; k=ed25519; p=${p}`,
  };
}

const kinds = { rsa: rsa(), ed25519: ed25519() };

async function verify(message: Buffer, record: string) {
  const { results } = await dkimVerify(message, {
    resolver: async (name: string) => (name === "s1._domainkey.example.org" ? [[record]] : []),
  });
  return results[0]!;
}

const contents = {
  "a short mail": {},
  "runs of spaces, tabs and blank lines": { body: "<p>a   b \t c </p>\r\n\r\n\n  <p>.</p>\n\n\n" },
  "values and names beyond ASCII": { subject: "Größe [[x]]", senderName: "Jürgen Müller", body: "<p>日本語 [[x]]</p>" },
  "base64 parts": { body: `<p>${"Здравствуйте ".repeat(50)}</p>` },
  attachments: {
    attachments: [{ filename: "отчёт  за  май.pdf", contentType: "application/pdf", data: Buffer.alloc(10_000, 1) }],
  },
  "a subject of several lines": { subject: "word ".repeat(60).trim() },
};

describe.each(["rsa", "ed25519"] as const)("a signature by %s", (kind) => {
  const { privateKey, record } = kinds[kind];
  const dkim = { domain: "example.org", selector: "s1", privateKey };

  test.each(Object.entries(contents))("holds for %s", async (_name, content) => {
    const { message } = await makeMail(
      { ...content, dkim },
      { attributes: { x: "  ‏שלום  " }, cc: ["carl@example.com"] },
    );
    const result = await verify(message, record);
    expect(result.status).toMatchObject({ result: "pass" });
  });

  test("covers the fields that mailbox providers require", async () => {
    const { message } = await makeMail({ dkim });
    const h = /\sh=([^;]+);/.exec(message.toString("latin1"))![1]!.replace(/\s/g, "").split(":");
    expect(h).toEqual(
      expect.arrayContaining([
        "from",
        "to",
        "subject",
        "date",
        "message-id",
        "list-unsubscribe",
        "list-unsubscribe-post",
        "feedback-id",
      ]),
    );
    expect(h.filter((name) => name === "from")).toHaveLength(2);
  });

  test.each([
    ["the body", "Hello</p>", "Hallo</p>"],
    ["the unsubscribe address", "/public/unsubscribe/", "/public/unsubscribf/"],
    ["the sender, by a second one", "MIME-Version: 1.0\r\n", "MIME-Version: 1.0\r\nFrom: evil@example.com\r\n"],
  ])("breaks when %s is changed", async (_name, from, to) => {
    const { message } = await makeMail({ dkim });
    const text = message.toString("latin1");
    expect(text).toContain(from);
    const result = await verify(Buffer.from(text.replace(from, to), "latin1"), record);
    expect(result.status.result).not.toBe("pass");
  });
});
