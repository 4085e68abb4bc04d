/**
 * A real OpenSMTPD with default settings that files mail for any address in a maildir. Its fixed paths (queue, socket,
 * helpers) are folders of the test in a separate mount namespace. Needs root.
 */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { program } from "../programs.ts";
import { type MailServer, serverFolder, serving } from "./daemon.ts";
import { startInView, stopGroup } from "./private-view.ts";

const DAEMON = { name: "opensmtpd", id: 64_201 };
const QUEUE = { name: "opensmtpq", id: 64_202 };
const MAILBOX = { name: "flockbox", id: 64_203 };

export interface OpenSmtpdOptions {
  /** More lines of smtpd.conf, such as limits. */
  lines?: string[];
}

export async function startOpenSmtpd(options: OpenSmtpdOptions = {}): Promise<MailServer> {
  const { path, env } = await program("smtpd", ["opensmtpd"]);
  const folder = serverFolder("opensmtpd");
  const port = await unusedPort();
  const make = (name: string, mode = 0o711, uid = 0, gid = 0) => {
    mkdirSync(join(folder, name), { recursive: true });
    chmodSync(join(folder, name), mode);
    chownSync(join(folder, name), uid, gid);
  };
  make("var-lib");
  make("var-lib/opensmtpd/empty", 0o755);
  make("run", 0o755);
  make("spool/smtpd");
  make("spool/smtpd/offline", 0o770, 0, QUEUE.id);
  make("spool/smtpd/purge", 0o700, QUEUE.id, 0);
  make("spool/smtpd/queue", 0o700, QUEUE.id, 0);
  make("mail", 0o755, MAILBOX.id, MAILBOX.id);
  writeFileSync(
    join(folder, "smtpd.conf"),
    [
      `table everybody { "@" = ${MAILBOX.name} }`,
      `table users { ${MAILBOX.name} = "${MAILBOX.id}:${MAILBOX.id}:${join(folder, "mail")}" }`,
      `listen on 127.0.0.1 port ${port}`,
      ...(options.lines ?? []),
      `action "file" maildir "${join(folder, "mail")}/all" userbase <users> virtual <everybody>`,
      'match from any for any action "file"',
      "",
    ].join("\n"),
    { mode: 0o600 },
  );
  const view = {
    users: [DAEMON, QUEUE, { ...MAILBOX, home: join(folder, "mail") }],
    binds: [
      { from: join(folder, "var-lib"), to: "/var/lib" },
      { from: join(folder, "spool"), to: "/var/spool" },
      { from: join(folder, "run"), to: "/run" },
      { from: resolve(path, "../../libexec"), to: "/usr/libexec" },
    ],
  };
  const child = startInView(folder, view, [path, "-d", "-f", join(folder, "smtpd.conf")], env);
  return serving({ child, port, folder, end: stopGroup });
}
