/**
 * A second independent reader, by the rules of Python's strict policy. Where there is no python3 this file checks
 * nothing and says so; mailparser reads the same messages in the other tests, always.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { makeMail } from "../../support/render.ts";

const SCRIPT = join(import.meta.dirname, "../../support/read-mail.py");
const hasPython = spawnSync("python3", ["--version"]).status === 0;

function readByPython(message: Buffer) {
  const { stdout, stderr, status } = spawnSync("python3", [SCRIPT], { input: message });
  if (status !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

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

describe("Python's strict policy", () => {
  test.each(names)("reads a mail with %j unchanged", async (name) => {
    if (!hasPython) return console.info("No python3 here: not checked against Python's email policy.");
    const data = Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7) % 256));
    const given = {
      subject: `${name}: [[first_name]]`,
      senderName: name,
      body: `<p>${name}</p>\n.<p>[[first_name]]  x</p>\nFrom here`,
      isTransactional: true,
      trackingEnabled: false,
      listName: name,
      attachments: [{ filename: `${name}.pdf`, contentType: "application/pdf", data }],
    };
    const { message } = await makeMail(given, { first_name: name });
    expect(readByPython(message)).toEqual({
      defects: [],
      subject: `${name}: ${name}`,
      from: name,
      to: ["bob@example.com"],
      text: `${name}\n\n.\n\n${name} x\n\nFrom here\n`,
      html: `<p>${name}</p>\n.<p>${name.replaceAll("'", "&#39;")}  x</p>\nFrom here\n`,
      attachments: [{ filename: `${name}.pdf`, sha256: createHash("sha256").update(data).digest("hex") }],
    });
  });
});
