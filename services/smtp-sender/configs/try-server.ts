/**
 * Tests a server the way the sender uses it: address, connection, TLS, login, sender address. Takes at most ten seconds
 * and sends no mail.
 */

import { isIP } from "node:net";
import type { SmtpConfig } from "../../../models/smtp-config.ts";
import { addressText } from "../../lib/address.ts";
import { config } from "../../lib/config.ts";
import { throttled, wrongState } from "../../lib/errors.ts";
import { apiLimiter } from "../../lib/limits/api-limiter.ts";
import { exactWindow } from "../../lib/limits/limiter.ts";
import { unseal } from "../../lib/secrets.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import type { TryServerParams, TryServerResult } from "../contract-configs.ts";
import { wireAddress } from "../delivery/envelope-sender.ts";
import { engineSettings } from "../engine/settings.ts";
import { NotSmtp, type Reply, ReplyReader } from "../smtp/replies.ts";
import { OpenError, openSession, type Session } from "../smtp/session.ts";

const TOTAL_MS = 9_500;
const STEP_MS = 8_000;

/** Limit of connection tests, because each opens a connection to a host of the caller's choice. */
const TRIES_PER_MINUTE = 20;

const quit = ({ socket }: Session) => {
  socket.on("error", () => {});
  socket.end("QUIT\r\n");
  setTimeout(() => socket.destroy(), 1_000).unref();
};

/** Resolves with the reply to a command; rejects if the server closes the connection or does not speak SMTP. */
function ask({ socket }: Session, command: string): Promise<Reply> {
  const ended = new AbortController();
  return new Promise<Reply>((resolve, reject) => {
    const reader = new ReplyReader();
    const onData = (chunk: Buffer) => {
      try {
        reader.push(chunk.toString("latin1"), resolve);
      } catch (error) {
        reject(error);
      }
    };
    const onClosed = () => reject(new NotSmtp("The server closed the connection"));
    for (const [event, listener] of [
      ["data", onData],
      ["error", onClosed],
      ["close", onClosed],
    ] as const) {
      socket.on(event, listener);
      ended.signal.addEventListener("abort", () => socket.removeListener(event, listener));
    }
    socket.write(`${command}\r\n`);
  }).finally(() => ended.abort());
}

/** Default sender address: the login if it is an address, else the host's postmaster. */
function defaultSender({ username, host }: TryServerParams): string {
  if (/^[^\s@<>]+@[^\s@<>]+$/.test(username)) return username;
  const version = isIP(host);
  return `postmaster@${version ? `[${version === 6 ? "IPv6:" : ""}${host}]` : host}`;
}

/** Starts a mail transaction and resets it. Returns the refusal, if any. */
async function senderRefusal(session: Session, sender: string): Promise<Reply | undefined> {
  const { text, smtpUtf8 } = wireAddress(sender);
  const reply = await ask(session, `MAIL FROM:<${text}>${smtpUtf8 && session.smtpUtf8 ? " SMTPUTF8" : ""}`);
  if (reply.code >= 300) return reply;
  await ask(session, "RSET");
  return undefined;
}

/**
 * The server requires a login, or TLS before it. Any other refusal concerns the sender address, or all mail for now;
 * "connect" is the closest stage.
 */
const asksForLogin = ({ code, enhanced, text }: Reply) =>
  code === 530 || enhanced === "5.7.0" || (code >= 500 && /authenticat|\bauth\b|starttls|log ?in\b/i.test(text));

async function limit(what: string, companyId: string): Promise<void> {
  const { granted, retryAfterMs } = await apiLimiter().take(
    exactWindow(`throttle-${what}:${companyId}`, TRIES_PER_MINUTE, 60),
    1,
  );
  if (granted === 0) throw throttled(Math.ceil(retryAfterMs / 1_000));
}

export const limitTries = (companyId: string) => limit("validate", companyId);
/** Generating an RSA key takes up to a second of CPU. */
export const limitKeys = (companyId: string) => limit("dkim-keys", companyId);
/** Limits reports, because each sends about forty DNS queries. */
export const limitReports = (companyId: string) => limit("deliverability", companyId);

const UNREADABLE = "The stored password can no longer be read. Enter it again.";

function storedPassword({ id, passwordSealed }: SmtpConfig): string {
  if (passwordSealed === null) return "";
  try {
    return unseal(passwordSealed, id);
  } catch {
    throw wrongState(UNREADABLE);
  }
}

/** The password to test a stored configuration with. */
export function storedLogin(stored: SmtpConfig): TryServerParams {
  const { host, port, username, useTls, tlsMode, senderEmail } = stored;
  const password = storedPassword(stored);
  return { host, port, username, password, use_tls: useTls, tls_mode: tlsMode, sender_email: senderEmail };
}

export async function tryServer(given: TryServerParams): Promise<TryServerResult> {
  const { port, username, password, use_tls: useTls = true, tls_mode: tlsMode = "auto" } = given;
  const host = given.host.trim();
  const began = performance.now();
  const result = (stage: TryServerResult["stage"], message: string): TryServerResult => ({
    valid: stage === "ok",
    stage,
    message,
    duration_ms: Math.round(performance.now() - began),
  });
  const { ehloName } = engineSettings();
  const opening = openSession(
    { host, port, username, password, useTls, tlsMode },
    {
      allowPrivate: config().ALLOW_PRIVATE_NETWORKS,
      ...(ehloName ? { name: ehloName } : {}),
      connectTimeoutMs: STEP_MS,
      greetingTimeoutMs: STEP_MS,
      loginTimeoutMs: STEP_MS,
    },
  );
  const sender = (given.sender_email && addressText(given.sender_email)) ?? defaultSender({ ...given, host });
  try {
    const late = () => new OpenError("connect", "yes", `No answer from ${host}:${port} within 10 seconds.`);
    const work = opening.then((session) => senderRefusal(session, sender));
    const refusal = await withTimeout(work, TOTAL_MS, late);
    if (refusal) {
      const advice = given.sender_email || asksForLogin(refusal) ? "" : " Give `sender_email` to try another one.";
      const sentence = `The SMTP server ${host}:${port} did not accept ${sender} as a sender: ${refusal.text}.${advice}`;
      return result(asksForLogin(refusal) ? "auth" : "connect", sentence);
    }
    return result("ok", "The server accepts mail.");
  } catch (error) {
    if (error instanceof NotSmtp) {
      return result("connect", `The SMTP server ${host}:${port} did not reply to MAIL FROM: ${error.message}.`);
    }
    if (!(error instanceof OpenError)) throw error;
    return result(error.stage, error.message);
  } finally {
    opening.then(quit, () => {});
  }
}
