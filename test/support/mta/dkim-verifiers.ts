/** Verifies signatures with OpenDKIM and dkimpy from Debian; each reports every signature. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Program, program, pythonWith } from "../programs.ts";

const SCRIPT = join(import.meta.dirname, "verify-dkim.py");
const PYTHON_PACKAGES = [
  "python3-dkim",
  "python3-nacl",
  "python3-dnspython",
  "python3-pkg-resources",
  "python3-cffi-backend",
];
const TIMEOUT_MS = 60_000;

/** Validity by selector. */
export type Verdicts = Record<string, boolean>;

export interface DkimVerifiers {
  opendkim(message: Buffer): Promise<Verdicts>;
  dkimpy(message: Buffer): Promise<Verdicts>;
  stop(): void;
}

async function outputOf({ path, env }: Program, args: string[], input: Buffer = Buffer.alloc(0)): Promise<string> {
  const child = spawn(path, args, { env: { ...process.env, ...env }, timeout: TIMEOUT_MS });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (data) => {
    out += data;
  });
  child.stderr.on("data", (data) => {
    errors += data;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  await once(child, "close");
  if (out === "") throw new Error(`${path} says nothing: ${errors}`);
  return out;
}

/** `records` are TXT records by name; the verifiers do not use the DNS. */
export async function dkimVerifiers(records: () => Record<string, string>): Promise<DkimVerifiers> {
  const [opendkim, python] = await Promise.all([program("opendkim", ["opendkim"]), pythonWith(PYTHON_PACKAGES)]);
  const folder = mkdtempSync(join(tmpdir(), "flockmail-dkim-"));
  const file = (name: string) => join(folder, name);
  writeFileSync(
    file("opendkim.conf"),
    `TestPublicKeys ${file("keys")}\nMode v\nSyslog no\nOn-BadSignature accept\nOn-NoSignature accept\n`,
  );
  let messages = 0;
  return {
    async opendkim(message) {
      const lines = Object.entries(records()).map(([name, value]) => `${name} ${value}\n`);
      writeFileSync(file("keys"), lines.join(""));
      const mail = file(`${++messages}.eml`);
      writeFileSync(mail, message);
      const out = await outputOf(opendkim, ["-x", file("opendkim.conf"), "-vvv", "-t", mail]);
      const verdicts = out.matchAll(/dkim=(\w+)[^;]*?\sheader\.s=([\w-]+)/g);
      return Object.fromEntries([...verdicts].map(([, result, selector]) => [selector!, result === "pass"]));
    },
    async dkimpy(message) {
      return Object.fromEntries(
        JSON.parse(await outputOf(python, [SCRIPT, JSON.stringify(records())], message)) as [string, boolean][],
      );
    },
    stop: () => rmSync(folder, { recursive: true, force: true }),
  };
}
