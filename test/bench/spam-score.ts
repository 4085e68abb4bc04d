/**
 * Scores newsletters with SpamAssassin (Debian, local rules only): the standard one in English and Russian, and the
 * demo's, one per language.
 *
 *     node test/bench spam-score
 *
 * Prints the scores and matching rules. Aim: below 1.0; SpamAssassin calls 5.0 spam.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newsletter as demo } from "../../scripts/demo/newsletter.ts";
import type { Content } from "../../services/renderer/content.ts";
import type { Recipient } from "../../services/renderer/program/scope.ts";
import { newsletter, reader } from "../support/newsletter.ts";
import { program } from "../support/programs.ts";
import { makeMail } from "../support/render.ts";

const TIMEOUT_MS = 120_000;

/** Perl modules and rules of an unpacked package; empty for an installed one. */
function whereItIs(path: string): { perl: string[]; own: string[] } {
  const root = path.replace(/\/usr\/bin\/spamassassin$/, "");
  if (root === "") return { perl: [], own: [] };
  const lib = join(root, "usr/lib");
  const architectures = readdirSync(lib).map((name) => join(lib, name, "perl5"));
  const compiled = architectures.flatMap((folder) => {
    try {
      return readdirSync(folder).map((version) => join(folder, version));
    } catch {
      return [];
    }
  });
  return {
    perl: [join(root, "usr/share/perl5"), ...compiled].flatMap((folder) => ["-I", folder]),
    own: [
      `--siteconfigpath=${join(root, "etc/spamassassin")}`,
      `--configpath=${join(root, "usr/share/spamassassin")}`,
      "--nocreate-prefs",
    ],
  };
}

const { path } = await program("spamassassin", ["spamassassin"]);
const { perl, own } = whereItIs(path);

async function score(name: string, content: Partial<Content>, to: Partial<Recipient>): Promise<void> {
  const { message } = await makeMail(content, to);
  const args = ["-T", ...perl, path, "--local", "--test-mode", ...own];
  const { stdout, stderr, status } = spawnSync("perl", args, { input: message, timeout: TIMEOUT_MS });
  if (status !== 0) throw new Error(stderr.toString());
  const report = /Content analysis details:([\s\S]*)$/.exec(stdout.toString("utf8"))?.[1]?.trim();
  console.log(`${name}: ${report}\n`);
}

for (const language of ["en", "ru"] as const) {
  const given = { ...newsletter(language), senderName: "River News", companyName: "River Society" };
  await score(language, given, reader(1, language));
}

const [names, ...rows] = readFileSync(join(import.meta.dirname, "../../scripts/demo/subscribers.csv"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => line.split(","));
const readers = rows.map((row) => Object.fromEntries(names!.map((name, i) => [name, row[i]!])));
const firsts = Map.groupBy(readers, ({ language }) => language);
for (const [language, [first]] of firsts) {
  const { email, first_name, last_name, ...attributes } = first!;
  const content = { ...demo, senderName: "Lantern Books", companyName: "Lantern Books" };
  await score(`demo, ${language}`, content, {
    email: email!,
    first_name: first_name!,
    last_name: last_name!,
    attributes,
  });
}
