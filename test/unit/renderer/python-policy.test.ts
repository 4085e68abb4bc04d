/**
 * A second independent parser with Python's strict policy. Without python3 this file checks nothing and says so;
 * mailparser reads the same messages in the other tests.
 */
import { createHash } from "node:crypto";
import { hasPython, readByPython } from "../../support/python-policy.ts";
import { makeMail } from "../../support/render.ts";

const names = [
  "Ann O'Neil",
  "Jürgen Müller, Ltd.",
  "Мария Щербакова",
  "山田 太郎",
  "👩‍👩‍👧 Family",
  "Zoë Núñez-Østergård",
  "Αλέξανδρος Ωνάσης",
  "محمد عبد الرحمن",
  "שלום כהן",
  "王小明",
  "김민수",
  "สมชาย ใจดี",
];

const data = Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7) % 256));
const sha256 = createHash("sha256").update(data).digest("hex");

async function mailWith(name: string): Promise<Buffer> {
  const given = {
    subject: `${name}: [[first_name]]`,
    senderName: name,
    body: `<p>${name}</p>\n.<p>[[first_name]]  x</p>\nFrom here`,
    isTransactional: true,
    trackingEnabled: false,
    listName: name,
    attachments: [{ filename: `${name}.pdf`, contentType: "application/pdf", data }],
  };
  return (await makeMail(given, { first_name: name })).message;
}

test("Python's strict policy reads emails with names of many scripts unchanged", async () => {
  if (!hasPython) return console.info("No python3 here: not checked against Python's email policy.");
  const expected = names.map((name) => ({
    defects: [],
    subject: `${name}: ${name}`,
    from: name,
    to: ["bob@example.com"],
    text: `${name}\n\n.\n\n${name} x\n\nFrom here\n`,
    html: `<p>${name}</p>\n.<p>${name.replaceAll("'", "&#39;")}  x</p>\nFrom here\n`,
    attachments: [{ filename: `${name}.pdf`, sha256 }],
  }));
  expect(readByPython(await Promise.all(names.map(mailWith)))).toEqual(expected);
});
