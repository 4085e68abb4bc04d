/** A real rspamd with local rules only: uses neither DNS nor network lists. */
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { startChild, untilListening } from "../child.ts";
import { program } from "../programs.ts";
import { NOBODY, needRoot, serverFolder, serving } from "./daemon.ts";

/** Modules that would use the network. */
const OFF = [
  "fuzzy_check",
  "rbl",
  "asn",
  "dmarc",
  "spf",
  "dkim",
  "dkim_signing",
  "arc",
  "mx_check",
  "phishing",
  "redis",
];

const START_MS = 120_000;

/** Without hyperscan, because compiling all its patterns would dominate the run time. */
const configuration = (folder: string, port: number) => `
.include "$CONFDIR/common.conf"
options {
  .include "$CONFDIR/options.inc"
  pidfile = "${folder}/rspamd.pid";
  filters = "chartable,regexp";
  disable_hyperscan = true;
  dns { nameserver = "127.0.0.1:9"; timeout = 0.1s; retransmits = 1; }
  control_socket = "${folder}/control.sock mode=0600";
}
logging { type = "console"; level = "warning"; }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; }
`;

export interface SpamFilter {
  url: string;
  stop(): Promise<void>;
}

export async function startRspamd(): Promise<SpamFilter> {
  needRoot("rspamd");
  const { path, env } = await program("rspamd", ["rspamd"]);
  const root = "LD_LIBRARY_PATH" in env ? resolve(path, "../../..") : "/";
  const share = join(root, "usr/share/rspamd");
  const folder = serverFolder("rspamd");
  const port = await unusedPort();
  mkdirSync(join(folder, "local.d"), { recursive: true });
  for (const module of OFF) writeFileSync(join(folder, "local.d", `${module}.conf`), "enabled = false;\n");
  const file = join(folder, "rspamd.conf");
  writeFileSync(file, configuration(folder, port));
  chownSync(folder, NOBODY.uid, NOBODY.gid);
  const paths = {
    CONFDIR: join(root, "etc/rspamd"),
    LOCAL_CONFDIR: folder,
    RUNDIR: folder,
    DBDIR: folder,
    LOGDIR: folder,
    SHAREDIR: share,
    RULESDIR: join(share, "rules"),
    LUALIBDIR: join(share, "lualib"),
    PLUGINSDIR: join(share, "plugins"),
  };
  const variables = Object.entries(paths).flatMap(([name, value]) => ["--var", `${name}=${value}`]);
  const args = ["-f", "-i", "-u", NOBODY.name, "-g", "nogroup", "-c", file, ...variables];
  const child = startChild(path, args, { env });
  // Slow without DNS, because it first looks up the hosts of its rules; `serving` reports errors.
  await untilListening(child, port, START_MS).catch(() => {});
  const { stop } = await serving({ child, port, folder });
  return { url: `http://127.0.0.1:${port}`, stop };
}
