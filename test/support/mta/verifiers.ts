/** Verifiers from Debian packages (pyspf, opendkim-testkey, opendmarc-check), each with the test's own name server. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Program, program, unpackedFolder } from "../programs.ts";
import { needRoot } from "./daemon.ts";

const TIMEOUT_MS = 120_000;
const ASK_PYSPF = join(import.meta.dirname, "ask-pyspf.py");

interface Said {
  /** Exit code. */
  code: number;
  text: string;
}

async function run({ path, env }: Program, args: string[], input = ""): Promise<Said> {
  const running = promisify(execFile)(path, args, { env: { ...process.env, ...env }, timeout: TIMEOUT_MS });
  running.child.stdin?.end(input);
  try {
    const { stdout, stderr } = await running;
    return { code: 0, text: `${stdout}${stderr}`.trim() };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    // Killed or not started, so without a result.
    if (typeof code !== "number") throw error;
    return { code, text: `${stdout}${stderr}`.trim() };
  }
}

/**
 * The RFC 7208 result and reason for each domain and address. `port` is the name server's on 127.0.0.1. Needs python3.
 */
export async function askPyspf(port: number, asked: [domain: string, address: string][]): Promise<[string, string][]> {
  const root = await unpackedFolder("pyspf", ["python3-spf", "python3-dns"]);
  const env = { PYTHONPATH: join(root, "usr/lib/python3/dist-packages") };
  const { code, text } = await run({ path: "python3", env }, [ASK_PYSPF, `${port}`], JSON.stringify(asked));
  if (code !== 0) throw new Error(`pyspf failed: ${text}`);
  return JSON.parse(text);
}

interface KeyAsked {
  /** The name server's port on 127.0.0.1. */
  port: number;
  domain: string;
  selector: string;
  /** RSA as PEM: opendkim 2.11 supports nothing else. */
  privateKey: string;
}

/** Exit code 0 if the published key matches the private key. `folder` takes its files. */
export async function askOpendkim(folder: string, { port, domain, selector, privateKey }: KeyAsked): Promise<Said> {
  const [resolver, config, key] = ["unbound.conf", "opendkim.conf", "key.pem"].map((file) => join(folder, file));
  const forward = `forward-zone:\n  name: "."\n  forward-addr: 127.0.0.1@${port}\n`;
  writeFileSync(resolver!, `server:\n  do-not-query-localhost: no\n${forward}`);
  writeFileSync(config!, `ResolverConfiguration ${resolver}\n`);
  writeFileSync(key!, privateKey, { mode: 0o600 });
  const testkey = await program("opendkim-testkey", ["opendkim-tools"]);
  return run(testkey, ["-x", config!, "-d", domain, "-s", selector, "-k", key!, "-vv"]);
}

const WITH_RESOLVER = 'mount --bind "$1" /etc/resolv.conf; shift; exec "$@"';

/**
 * Exit code 0 if the domain has a policy. It only asks port 53 of the system's name server, which `address` replaces.
 */
export async function askOpendmarc(folder: string, address: string, domain: string): Promise<Said> {
  needRoot("opendmarc-check");
  const resolver = join(folder, "resolv.conf");
  writeFileSync(resolver, `nameserver ${address}\noptions timeout:3 attempts:1\n`);
  const { path, env } = await program("opendmarc-check", ["opendmarc"]);
  const args = ["--mount", "--propagation", "private", "sh", "-ec", WITH_RESOLVER, "sh", resolver, path, domain];
  return run({ path: "unshare", env }, args);
}
