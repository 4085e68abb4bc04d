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

  test.each(Object.entries(contents))("is valid for %s", async (_name, content) => {
    const { message } = await makeMail(
      { ...content, dkim: [dkim] },
      { attributes: { x: "  ‏שלום  " }, cc: ["carl@example.com"] },
    );
    const result = await verify(message, record);
    expect(result.status).toMatchObject({ result: "pass" });
  });

  test("covers the fields that mailbox providers require", async () => {
    const { message } = await makeMail({ dkim: [dkim] });
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
    const { message } = await makeMail({ dkim: [dkim] });
    const text = message.toString("latin1");
    expect(text).toContain(from);
    const result = await verify(Buffer.from(text.replace(from, to), "latin1"), record);
    expect(result.status.result).not.toBe("pass");
  });
});

describe("two DKIM keys", () => {
  const records: Record<string, string> = {
    "r1._domainkey.example.org": kinds.rsa.record,
    "e1._domainkey.mail.example.org": kinds.ed25519.record,
  };
  const dkim = [
    { domain: "mail.example.org", selector: "e1", privateKey: kinds.ed25519.privateKey },
    { domain: "example.org", selector: "r1", privateKey: kinds.rsa.privateKey },
  ];
  const results = async (message: Buffer) => {
    const resolver = async (name: string) => (records[name] ? [[records[name]]] : []);
    const found = (await dkimVerify(message, { resolver })).results;
    return found.map(({ selector, signingDomain, status }) => [selector, signingDomain, status.result]);
  };
  const both = [
    ["r1", "example.org", "pass"],
    ["e1", "mail.example.org", "pass"],
  ];

  test.each(Object.entries(contents))("make two valid signatures, RSA first, for %s", async (_name, content) => {
    const { message } = await makeMail({ ...content, dkim }, { cc: ["carl@example.com"] });
    expect(await results(message)).toEqual(both);
  });

  test("make signatures that do not need each other", async () => {
    const text = (await makeMail({ dkim })).message.toString("latin1");
    const fields = /^(DKIM-Signature: .*?\r\n)(?=DKIM-Signature)(DKIM-Signature: .*?\r\n)(?=\S)/s.exec(text)!;
    for (const [at, field] of [fields[1]!, fields[2]!].entries()) {
      expect(await results(Buffer.from(text.replace(field, ""), "latin1"))).toEqual([both[1 - at]]);
    }
  });

  test("make signatures that both break when a second From is added", async () => {
    const { message } = await makeMail({ dkim });
    const forged = Buffer.concat([Buffer.from("From: evil@example.com\r\n"), message]);
    expect((await results(forged)).map(([, , result]) => result)).not.toContain("pass");
  });
});
