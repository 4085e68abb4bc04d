/**
 * A real Exim on a loopback port, with its own folder for configuration, spool and log. Files mail for any address in a
 * maildir. Needs root, because Exim changes to the user that it was built for.
 */
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import type { Certificate } from "../certificate.ts";
import { program } from "../programs.ts";
import { type MailServer, needRoot, serverFolder, serving } from "./daemon.ts";
import { startInView, stopGroup } from "./private-view.ts";

export interface EximOptions {
  /** Lines of the main section. */
  main?: string[];
  /** ACL statements before the final accept, for MAIL, RCPT and DATA. */
  mail?: string[];
  rcpt?: string[];
  data?: string[];
  /** Domains relayed by SMTP to these local ports; all other mail is filed. */
  relay?: Record<string, number>;
  /** Retry rules before the general one of an hour. */
  retry?: string[];
  /** Enables STARTTLS, or implicit TLS with `implicit`. */
  certificate?: Certificate;
  implicit?: boolean;
  /** Default: a free port. */
  port?: number;
}

/** Debian builds Exim for this user, and Exim looks it up before reading its configuration. */
const USER = { name: "Debian-exim", id: 64_101 };

function configuration(folder: string, port: number, options: EximOptions): string {
  const acl = (name: string, lines: string[] = []) => [
    `acl_${name}:`,
    ...lines.map((line) => `  ${line}`),
    "  accept",
    "",
  ];
  const tls = options.certificate
    ? [
        `tls_certificate = ${join(folder, "cert.pem")}`,
        `tls_privatekey = ${join(folder, "key.pem")}`,
        "tls_advertise_hosts = *",
        ...(options.implicit ? [`tls_on_connect_ports = ${port}`] : []),
      ]
    : ["tls_advertise_hosts ="];
  return [
    "primary_hostname = mx.to.example",
    `spool_directory = ${join(folder, "spool")}`,
    `log_file_path = ${join(folder, "log")}/%s`,
    `pid_file_path = ${join(folder, "exim.pid")}`,
    `exim_path = ${join(folder, "exim")}`,
    "keep_environment = LD_LIBRARY_PATH",
    "deliver_drop_privilege",
    `daemon_smtp_ports = ${port}`,
    "local_interfaces = 127.0.0.1",
    "host_lookup =",
    "rfc1413_query_timeout = 0s",
    "never_users =",
    // Above this number of messages per connection Exim leaves the remaining ones to its next queue run, which never
    // happens here.
    "smtp_accept_queue_per_connection = 0",
    "log_selector = +smtp_connection +rejected_header +smtp_protocol_error",
    "acl_smtp_mail = acl_mail",
    "acl_smtp_rcpt = acl_rcpt",
    "acl_smtp_data = acl_data",
    ...tls,
    ...(options.main ?? []),
    "",
    "begin acl",
    ...acl("mail", options.mail),
    ...acl("rcpt", options.rcpt),
    ...acl("data", options.data),
    "begin routers",
    ...Object.keys(options.relay ?? {}).flatMap((domain, n) => [
      `relay${n}:`,
      "  driver = manualroute",
      `  domains = ${domain}`,
      "  route_list = * 127.0.0.1",
      "  self = send",
      `  transport = relay${n}`,
    ]),
    "everybody:",
    "  driver = accept",
    "  transport = maildir",
    "",
    "begin transports",
    ...Object.values(options.relay ?? {}).flatMap((to, n) => [
      `relay${n}:`,
      "  driver = smtp",
      `  port = ${to}`,
      "  allow_localhost",
    ]),
    "maildir:",
    "  driver = appendfile",
    "  maildir_format",
    `  directory = ${join(folder, "mail")}/all`,
    "  create_directory",
    "  envelope_to_add",
    "  delivery_date_add",
    "",
    "begin retry",
    ...(options.retry ?? []),
    "* * F,1h,1s",
    "",
  ].join("\n");
}

export async function startExim(options: EximOptions = {}): Promise<MailServer> {
  needRoot("Exim");
  const { path, env } = await program("exim4", ["exim4-daemon-light", "exim4-base"]);
  const folder = serverFolder("exim");
  // The copy has no set-user-ID bit, which would disable the libraries unpacked beside it.
  copyFileSync(path, join(folder, "exim"));
  chmodSync(join(folder, "exim"), 0o755);
  const port = options.port ?? (await unusedPort());
  for (const name of ["spool", "log", "mail"]) {
    mkdirSync(join(folder, name));
    chownSync(join(folder, name), USER.id, USER.id);
  }
  const owned = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o640 });
    chownSync(join(folder, name), 0, USER.id);
  };
  owned("exim.conf", configuration(folder, port, options));
  if (options.certificate) {
    owned("cert.pem", options.certificate.cert);
    owned("key.pem", options.certificate.key);
  }
  const logFile = (name: string) => {
    const file = join(folder, "log", name);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  };
  // Refusals are in the main log and again in the reject log.
  const log = () => logFile("main") + logFile("panic");
  // -bdf runs a daemon in the foreground. Each delivery is a process of its own.
  const command = [join(folder, "exim"), "-C", join(folder, "exim.conf"), "-bdf", "-q1s"];
  const child = startInView(folder, { users: [USER] }, command, env);
  return serving({ child, port, folder, log, end: stopGroup });
}
