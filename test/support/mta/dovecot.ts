/**
 * A real Dovecot: accepts mail for any address by LMTP, files it in a maildir, and serves it by IMAP. Needs root, and a
 * mount namespace in which its package looks installed, because it uses fixed paths.
 */
import { execFile } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { untilListening } from "../child.ts";
import { program } from "../programs.ts";
import { type MailServer, serverFolder, serving } from "./daemon.ts";
import { startInView, stopGroup } from "./private-view.ts";

const INTERNAL = { name: "dovecot", id: 64_301 };
const LOGIN = { name: "dovenull", id: 64_302 };
const MAILBOX = { name: "flockbox", id: 64_303 };
const IMAP_TIMEOUT_MS = 60_000;

interface DovecotOptions {
  /** Password of all mailboxes; without it, any password works. */
  password?: string;
  /** Key and certificate in one file (trusted.ts), for STARTTLS; then login without TLS is refused. */
  chain?: string;
  /** Prefix of all folder names, such as "INBOX." */
  prefix?: string;
}

const configuration = (
  folder: string,
  lmtpPort: number,
  imapPort: number,
  { password, chain, prefix }: DovecotOptions,
) => `
protocols = lmtp imap
listen = 127.0.0.1
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
import_environment = TZ LD_LIBRARY_PATH
${chain ? `ssl = required\nssl_cert = <${chain}\nssl_key = <${chain}` : "ssl = no\ndisable_plaintext_auth = no"}
mail_location = maildir:~/Maildir
auth_username_chars =
${prefix ? `namespace inbox {\n  inbox = yes\n  separator = .\n  prefix = ${prefix}\n}` : ""}
passdb {
  driver = static
  args = ${password ? `password=${password}` : "nopassword=y"}
}
userdb {
  driver = static
  args = uid=${MAILBOX.id} gid=${MAILBOX.id} home=${folder}/mail/%u allow_all_users=yes
}
service lmtp {
  inet_listener lmtp {
    port = ${lmtpPort}
  }
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
`;

/** A part as Dovecot's parser sees it, with decoded content. */
interface ImapPart {
  type: string;
  charset: string | null;
  /** Text of a part with a charset; lines end with LF. */
  text: string | null;
  disposition: string | null;
  sha256: string;
}

export interface ImapMail {
  /** Bytes as stored in the mailbox. */
  raw: Buffer;
  /** Dovecot's ENVELOPE with decoded names and addresses. */
  envelope: {
    subject: string;
    from: [name: string, address: string][];
    to: [name: string, address: string][];
    cc: [name: string, address: string][];
    messageId: string;
  };
  /** Leaf parts, in order. */
  parts: ImapPart[];
}

export interface Dovecot extends MailServer {
  imapPort: number;
  /** Stops it, runs `meanwhile`, and starts it again on the same port. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
  /** Reads all mails of a mailbox by IMAP. */
  mailsOf(address: string): Promise<ImapMail[]>;
}

async function readMails(imapPort: number, address: string): Promise<ImapMail[]> {
  const script = join(import.meta.dirname, "read-imap.py");
  const { stdout } = await promisify(execFile)("python3", [script, `${imapPort}`, address], {
    timeout: IMAP_TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
  const mails = JSON.parse(stdout) as (Omit<ImapMail, "raw"> & { raw: string })[];
  return mails.map((mail) => ({ ...mail, raw: Buffer.from(mail.raw, "base64") }));
}

/** `port` is the LMTP port. */
export async function startDovecot(options: DovecotOptions = {}): Promise<Dovecot> {
  const { path, env } = await program("dovecot", ["dovecot-core", "dovecot-lmtpd", "dovecot-imapd"]);
  const folder = serverFolder("dovecot");
  const [port, imapPort] = [await unusedPort(), await unusedPort()];
  for (const name of ["run", "state", "mail"]) mkdirSync(join(folder, name), { mode: 0o755 });
  chownSync(join(folder, "mail"), MAILBOX.id, MAILBOX.id);
  writeFileSync(join(folder, "dovecot.conf"), configuration(folder, port, imapPort, options));
  const log = () => (existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8") : "");
  const usr = resolve(path, "../..");
  const view = {
    users: [INTERNAL, LOGIN, { ...MAILBOX, home: join(folder, "mail") }],
    ...(usr === "/usr" ? {} : { usr }),
  };
  const command = ["/usr/sbin/dovecot", "-F", "-c", join(folder, "dovecot.conf")];
  let child = startInView(folder, view, command, env);
  const end = () => stopGroup(child);
  const server = await serving({ child, port, otherPorts: [imapPort], folder, log, end });
  const restart = async (meanwhile = async () => {}) => {
    await end();
    await meanwhile();
    child = startInView(folder, view, command, env);
    for (const each of [port, imapPort]) await untilListening(child, each);
  };
  return { ...server, imapPort, restart, mailsOf: (address) => readMails(imapPort, address) };
}
