/**
 * Sends queued system mail. If a node crashes between the server's answer and recording it, the mail is sent twice with
 * the same Message-ID.
 */
import { isIP } from "node:net";
import type { SendMailOptions } from "nodemailer";
import { config } from "../../lib/config.ts";
import { isAboutMechanism } from "../../lib/smtp-mechanism.ts";
import { claimSystemMails, type DueSystemMail, deferSystemMail, finishSystemMail } from "./system-mails.ts";
import { systemMailText } from "./texts.ts";

const AT_ONCE = 5;
const CONNECT_MS = 15_000;
const SILENCE_MS = 30_000;
const FIRST_PAUSE_SECONDS = 15;
const MAX_PAUSE_SECONDS = 3_600;
/** Maximum attempts, over about a day; later, the mail's link has expired. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/** Authentication mechanisms, tried in this order. */
const LOGIN_MECHANISMS = [undefined, "LOGIN", "CRAM-MD5"];

/**
 * The operator sets SYSTEM_SMTP_URL, so private hosts are allowed. `smtp:` uses STARTTLS if offered; `smtps:` always
 * encrypts.
 */
async function openTransport(authMethod: string | undefined) {
  // Loaded with the first mail to save memory in idle processes.
  const { createTransport } = await import("nodemailer");
  const url = new URL(config().SYSTEM_SMTP_URL!);
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return createTransport({
    host,
    port: url.port ? Number(url.port) : secure ? 465 : 587,
    secure,
    // Accepts a self-signed certificate with opportunistic TLS, which is better than clear text (RFC 7435).
    tls: { rejectUnauthorized: secure, ...(isIP(host) ? {} : { servername: host }) },
    ...(url.username
      ? { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }
      : {}),
    ...(authMethod ? { authMethod } : {}),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // System emails must not read files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function mailOf({ id, kind, recipient, data, created_at }: DueSystemMail): SendMailOptions | null {
  const text = systemMailText(kind, data);
  if (!text) return null;
  const { SYSTEM_FROM, SERVICE_NAME } = config();
  const domain = SYSTEM_FROM.slice(SYSTEM_FROM.lastIndexOf("@") + 1).replace(/>.*$/, "");
  return {
    from: SYSTEM_FROM.includes("<") ? SYSTEM_FROM : { name: SERVICE_NAME, address: SYSTEM_FROM },
    to: { name: "", address: recipient },
    subject: text.subject,
    text: text.body,
    date: created_at,
    messageId: `<${id}@${domain}>`,
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

async function send(mail: SendMailOptions): Promise<void> {
  for (const [n, mechanism] of LOGIN_MECHANISMS.entries()) {
    const transport = await openTransport(mechanism);
    try {
      await transport.sendMail(mail);
      return;
    } catch (error) {
      const isLogin = (error as { code?: string }).code === "EAUTH";
      if (!isLogin || n === LOGIN_MECHANISMS.length - 1 || !isAboutMechanism(error as Error)) throw error;
    } finally {
      transport.close();
    }
  }
}

async function deliver(due: DueSystemMail): Promise<void> {
  const mail = mailOf(due);
  if (!mail) return finishSystemMail(due.id, `This release knows no system mail "${due.kind}"`);
  try {
    await send(mail);
  } catch (error) {
    const { message, responseCode = 0 } = error as Error & { responseCode?: number };
    const isOver = responseCode >= 500 || Date.now() - due.created_at.getTime() > GIVE_UP_AFTER_MS;
    if (isOver) return finishSystemMail(due.id, message);
    const pause = Math.min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (due.attempts - 1));
    return deferSystemMail(due.id, message, pause);
  }
  await finishSystemMail(due.id, null);
}

/** Returns the number of attempted emails. */
export async function deliverSystemMail(): Promise<number> {
  if (!config().SYSTEM_SMTP_URL) return 0;
  const due = await claimSystemMails(AT_ONCE);
  if (due.length === 0) return 0;
  await Promise.all(due.map(deliver));
  return due.length;
}
