/**
 * What SpamAssassin (Debian's, rules only, network tests off) says of the newsletter as we send it, in English and
 * Russian: the score and the rules that make it. The aim is below 1.0; 5.0 is what it calls spam.
 *
 *   node test/bench/spam-score.ts
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { newsletter, reader } from "../support/newsletter.ts";
import { program } from "../support/programs.ts";
import { makeMail } from "../support/render.ts";

const TIMEOUT_MS = 120_000;

/** Where an unpacked package keeps its Perl modules and rules; nothing for one that is installed. */
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
for (const language of ["en", "ru"] as const) {
  const given = { ...newsletter(language), senderName: "River News", companyName: "River Society" };
  const { message } = await makeMail(given, reader(1, language));
  const args = ["-T", ...perl, path, "--local", "--test-mode", ...own];
  const { stdout, stderr, status } = spawnSync("perl", args, { input: message, timeout: TIMEOUT_MS });
  if (status !== 0) throw new Error(stderr.toString());
  const report = /Content analysis details:([\s\S]*)$/.exec(stdout.toString("utf8"))?.[1]?.trim();
  console.log(`${language}: ${report}\n`);
}
