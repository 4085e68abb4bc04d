/** A real postgrey as policy server for Postfix: defers mail from an unknown triplet for `delaySeconds`. */
import { chownSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { startChild } from "../child.ts";
import { program } from "../programs.ts";
import { NOBODY, serverFolder, serving } from "./daemon.ts";

export interface Greylist {
  /** Line for main.cf. */
  check: string;
  stop(): Promise<void>;
}

/** Perl folders of the unpacked packages; an installed postgrey finds its own. */
function perlFolders(path: string, isFetched: boolean): string[] {
  const root = resolve(path, "../../..");
  const folders = ["usr/share/perl5", "usr/lib/x86_64-linux-gnu/perl5/5.36", "usr/lib/aarch64-linux-gnu/perl5/5.36"];
  return isFetched ? folders.map((folder) => `-I${join(root, folder)}`) : [];
}

export async function startPostgrey(delaySeconds: number): Promise<Greylist> {
  const { path, env } = await program("postgrey", [
    "postgrey",
    "libnet-server-perl",
    "libberkeleydb-perl",
    "libnetaddr-ip-perl",
    "libnet-dns-perl",
  ]);
  const folder = serverFolder("postgrey");
  const port = await unusedPort();
  mkdirSync(join(folder, "db"));
  const owner = process.getuid?.() === 0 ? NOBODY : { uid: process.getuid!(), gid: process.getgid!() };
  chownSync(join(folder, "db"), owner.uid, owner.gid);
  const args = [
    // Postgrey's first line enables taint mode, in which Perl ignores folders from the environment.
    "-T",
    ...perlFolders(path, "LD_LIBRARY_PATH" in env),
    path,
    `--inet=127.0.0.1:${port}`,
    `--delay=${delaySeconds}`,
    `--dbdir=${join(folder, "db")}`,
    `--user=${owner.uid}`,
    `--group=${owner.gid}`,
    "--auto-whitelist-clients=0",
    "--whitelist-clients=/dev/null",
    "--whitelist-recipients=/dev/null",
  ];
  const child = startChild("perl", args, { env });
  const { stop } = await serving({ child, port, folder });
  return { check: `check_policy_service inet:127.0.0.1:${port}`, stop };
}
