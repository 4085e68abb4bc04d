/**
 * A real Postfix on free loopback ports, with its own folder for configuration, queue and log. Files mail for any
 * address in a maildir. Needs root, because its master starts daemons as several users.
 */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { startChild } from "../child.ts";
import { program } from "../programs.ts";
import { type MailServer, NOBODY, needRoot, serverFolder, serving } from "./daemon.ts";

export interface PostfixOptions {
  /** Lines of main.cf that add to or replace those below. */
  main?: Record<string, string>;
  /** Implicit TLS instead of STARTTLS (the service "smtps"). */
  wrapper?: boolean;
  /** Puts postscreen in front of smtpd. */
  postscreen?: boolean;
}

/** Postfix insists on a user that no other program uses; these two exist in Debian and its derivatives. */
const MAIL_OWNER = "uucp";
const SETGID_GROUP = "news";

function idOf(file: "passwd" | "group", name: string): number {
  const entry = new RegExp(`^${name}:[^:]*:(\\d+)`, "m").exec(readFileSync(`/etc/${file}`, "utf8"));
  if (!entry)
    throw new Error(`Postfix needs "${name}" in /etc/${file}, which this system lacks: add it to run this test.`);
  return Number(entry[1]);
}

/** Paths of the Debian package, installed or unpacked. */
async function paths() {
  const { path, env } = await program("postqueue", ["postfix"]);
  const root = resolve(path, "../../..");
  const daemons = join(root, "usr/lib/postfix/sbin");
  const found = existsSync(join(daemons, "master")) ? daemons : join(root, "lib/postfix/sbin");
  return { commands: resolve(path, ".."), daemons: found, libraries: resolve(found, ".."), env };
}

type Paths = Awaited<ReturnType<typeof paths>>;

function mainCf(folder: string, at: Paths, options: PostfixOptions): string {
  const settings: Record<string, string> = {
    compatibility_level: "3.6",
    queue_directory: join(folder, "queue"),
    data_directory: join(folder, "data"),
    command_directory: at.commands,
    daemon_directory: at.daemons,
    shlib_directory: at.libraries,
    meta_directory: join(folder, "conf"),
    mail_owner: MAIL_OWNER,
    setgid_group: SETGID_GROUP,
    default_privs: NOBODY.name,
    import_environment: "MAIL_CONFIG LD_LIBRARY_PATH TZ LANG=C POSTLOG_SERVICE POSTLOG_HOSTNAME",
    export_environment: "MAIL_CONFIG LD_LIBRARY_PATH TZ LANG=C",
    maillog_file: join(folder, "log"),
    maillog_file_prefixes: folder,
    inet_interfaces: "127.0.0.1",
    inet_protocols: "ipv4",
    myhostname: "mx.to.example",
    mydestination: "",
    mynetworks: "127.0.0.0/8",
    alias_maps: "",
    alias_database: "",
    virtual_mailbox_domains: "static:all",
    virtual_mailbox_base: join(folder, "mail"),
    virtual_mailbox_maps: "static:all/",
    virtual_uid_maps: `static:${NOBODY.uid}`,
    virtual_gid_maps: `static:${NOBODY.gid}`,
    virtual_minimum_uid: "100",
    smtpd_relay_restrictions: "permit_mynetworks, permit_sasl_authenticated, reject",
    smtpd_peername_lookup: "no",
    ...options.main,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join("");
}

function masterCf(port: number, { wrapper, postscreen }: PostfixOptions): string {
  const listeners = postscreen
    ? [`127.0.0.1:${port} inet n - n - 1 postscreen`, "smtpd pass - - n - - smtpd"]
    : [`127.0.0.1:${port} inet n - n - - smtpd${wrapper ? " -o smtpd_tls_wrappermode=yes" : ""}`];
  return `${[
    ...listeners,
    "dnsblog unix - - n - 0 dnsblog",
    "tlsproxy unix - - n - 0 tlsproxy",
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 300 1 qmgr",
    "tlsmgr unix - - n 1000? 1 tlsmgr",
    "rewrite unix - - n - - trivial-rewrite",
    "bounce unix - - n - 0 bounce",
    "defer unix - - n - 0 bounce",
    "trace unix - - n - 0 bounce",
    "flush unix n - n 1000? 0 flush",
    "proxymap unix - - n - - proxymap",
    "error unix - - n - - error",
    "retry unix - - n - - error",
    "virtual unix - n n - - virtual",
    "smtp unix - - n - - smtp",
    "lmtp unix - - n - - lmtp",
    "anvil unix - - n - 1 anvil",
    "scache unix - - n - 1 scache",
    "postlog unix-dgram n - n - 1 postlogd",
  ].join("\n")}\n`;
}

const QUEUES = [
  "active",
  "bounce",
  "corrupt",
  "defer",
  "deferred",
  "flush",
  "hold",
  "incoming",
  "private",
  "saved",
  "trace",
];

function makeFolders(folder: string): void {
  const [owner, group] = [idOf("passwd", MAIL_OWNER), idOf("group", SETGID_GROUP)];
  const make = (name: string, mode: number, uid: number, gid: number) => {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true });
    chmodSync(path, mode);
    chownSync(path, uid, gid);
  };
  make("conf", 0o755, 0, 0);
  make("queue", 0o755, 0, 0);
  make("queue/pid", 0o755, 0, 0);
  make("data", 0o700, owner, 0);
  make("mail", 0o755, NOBODY.uid, NOBODY.gid);
  for (const name of QUEUES) make(`queue/${name}`, 0o700, owner, 0);
  make("queue/maildrop", 0o730, owner, group);
  make("queue/public", 0o710, owner, group);
}

export async function startPostfix(options: PostfixOptions = {}): Promise<MailServer> {
  needRoot("Postfix");
  const at = await paths();
  const folder = serverFolder("postfix");
  const port = await unusedPort();
  makeFolders(folder);
  writeFileSync(join(folder, "conf/main.cf"), mainCf(folder, at, options));
  writeFileSync(join(folder, "conf/master.cf"), masterCf(port, options));
  const log = () => (existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8") : "");
  // Runs in the foreground as leader of its own session, so that its daemons end with it.
  const child = startChild(join(at.daemons, "master"), ["-c", join(folder, "conf")], {
    env: at.env,
  });
  return serving({ child, port, folder, log });
}
