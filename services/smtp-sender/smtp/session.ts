/**
 * Opens an SMTP session: checks and pins the address, connects, and handles greeting, TLS and login. nodemailer's
 * SMTPConnection speaks the protocol up to here; then the socket is ours.
 */
import { once } from "node:events";
import { isIP, type Socket, connect as tcpConnect } from "node:net";
import { type TLSSocket, connect as tlsConnect } from "node:tls";
import { domainToASCII } from "node:url";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { TlsMode } from "../../../models/smtp-config.ts";
import { toOneLine } from "../../lib/one-line.ts";
import { HostError, PERMIT_HELP, type PinnedAddress, resolvePublic } from "../../lib/ssrf/guard.ts";
import { logIn, offeredMechanisms, passwordMechanisms } from "./login.ts";

export interface Endpoint {
  host: string;
  port: number;
  useTls: boolean;
  /** Default "auto": implicit TLS on port 465, otherwise STARTTLS; none without `useTls`. */
  tlsMode?: TlsMode;
  username: string;
  password: string;
}

export interface Session {
  socket: Socket;
  pipelining: boolean;
  eightBitMime: boolean;
  smtpUtf8: boolean;
  /** Value of the SIZE extension; 0 if the server names none. */
  size: number | undefined;
}

interface OpenOptions {
  allowPrivate: boolean;
  /** Our name in EHLO. */
  name?: string;
  /** Connection time-out per address. */
  connectTimeoutMs?: number;
  greetingTimeoutMs?: number;
  /** Time-out of each reply during login. */
  loginTimeoutMs?: number;
}

const whereOf = ({ host, port }: Endpoint) => `${host}:${port}`;

type OpenStage = "dns" | "connect" | "tls" | "auth";

/**
 * Tells whether a retry can help.
 *
 * no                   only the user can fix it: a wrong password, an untrusted certificate
 * notIfItNeverWorked   the server has no TLS or login, or none that this client supports; temporary if it worked before
 * yes                  anything else: the server may be back in a while
 */
type MayRecover = "yes" | "notIfItNeverWorked" | "no";

export class OpenError extends Error {
  readonly stage: OpenStage;
  readonly mayRecover: MayRecover;

  constructor(stage: OpenStage, mayRecover: MayRecover, sentence: string) {
    // The sentence may quote the server, and is stored.
    super(toOneLine(sentence));
    this.name = "OpenError";
    this.stage = stage;
    this.mayRecover = mayRecover;
  }

  isPermanent(workedBefore: boolean): boolean {
    return this.mayRecover === "no" || (this.mayRecover === "notIfItNeverWorked" && !workedBefore);
  }
}

// RFC 5321 section 4.5.3.2.1 requires five minutes for the greeting. A TCP handshake gets less, to try the next
// address.
const CONNECT_TIMEOUT_MS = 30_000;
const GREETING_TIMEOUT_MS = 300_000;
const LOGIN_TIMEOUT_MS = 120_000;
/** Number of login replies: EHLO, twice with STARTTLS, and AUTH with a challenge. */
const STEPS = 4;

/** nodemailer's codes for a connection that ended. */
const CLOSED: ReadonlySet<string | undefined> = new Set(["ECONNECTION", "ESOCKET"]);

type SmtpError = Error & { code?: string; responseCode?: number; response?: string; command?: string };

/**
 * Shared read buffer of all connections; its content is consumed at once. Without it Node allocates 64 KB per read for
 * replies of fifty bytes.
 */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

type Take = (text: string) => void;

/** Sockets that read into readBuffer, and their consumers once the session is open. */
const takers = new WeakMap<Socket, Take | undefined>();

/**
 * Passes the server's bytes, as latin1 characters, to `take`. Without TLS it bypasses the socket's stream to save CPU.
 */
export function readSession({ socket }: Session, take: Take): void {
  if (takers.has(socket)) takers.set(socket, take);
  else socket.on("data", (chunk: Buffer) => take(chunk.toString("latin1")));
}

async function tcp(address: PinnedAddress, port: number, timeoutMs: number): Promise<Socket> {
  const socket: Socket = tcpConnect({
    host: address.address,
    port,
    family: address.family,
    noDelay: true,
    onread: {
      buffer: readBuffer,
      callback: (bytes) => {
        const take = takers.get(socket);
        if (!take) return socket.push(Buffer.from(readBuffer.subarray(0, bytes)));
        take(readBuffer.toString("latin1", 0, bytes));
        return true;
      },
    },
  });
  takers.set(socket, undefined);
  const timer = setTimeout(() => socket.destroy(new Error("no answer within the time-out")), timeoutMs);
  try {
    await once(socket, "connect");
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function connectToFirst(addresses: PinnedAddress[], endpoint: Endpoint, timeoutMs: number): Promise<Socket> {
  let failure: Error | undefined;
  for (const address of addresses) {
    try {
      return await tcp(address, endpoint.port, timeoutMs);
    } catch (error) {
      failure = error as Error;
    }
  }
  const reason = (failure as NodeJS.ErrnoException).code ?? failure?.message;
  throw new OpenError("connect", "yes", `No connection to ${endpoint.host}:${endpoint.port} (${reason}).`);
}

/** OpenSSL surrounds its reason with a thread, a number, a library and a source location. */
const OPENSSL = /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):.*$/s;

/** Matches a reply; each line begins with its code (RFC 5321 4.2). */
const REPLY = /^(?:[2-5]\d\d(?:[ -].*)?(?:\r?\n|$))+$/;

/**
 * Quotes the server only if it sent an SMTP reply: a configuration may name any host and port, and another service's
 * answer must not be shown to the user.
 */
const serverText = ({ response, message }: SmtpError) => {
  if (response === undefined) return message.replace(/^Error initiating TLS - /, "").replace(OPENSSL, "$1");
  if (!REPLY.test(response.trim())) return "what it says is not SMTP";
  return response.replace(/\s+/g, " ").trim().slice(0, 500);
};

const ABOUT_TLS = /certificate|altname|ssl|tls|wrong version number|self.signed|handshake|unsupported protocol/i;
// nodemailer keeps no error code during STARTTLS, so the messages of OpenSSL and Node decide.
const CERTIFICATE = /certificate|altname|self.signed/i;
const NO_COMMON_VERSION = /unsupported protocol|alert protocol version|version too low|no protocols available/i;
const NOT_TLS = /wrong version number|packet length too long|http request/i;
const PRIVATE_CA = /self.signed|unable to (?:get|verify)/i;

/** Advice to send without TLS, in terms of the API. */
const withoutTls = ({ tlsMode = "auto" }: Endpoint): string =>
  tlsMode === "auto" ? "set `use_tls` to false" : 'set `tls_mode` to "none"';

function noStartTls(endpoint: Endpoint): OpenError {
  return new OpenError(
    "tls",
    "notIfItNeverWorked",
    `The SMTP server ${whereOf(endpoint)} offers no STARTTLS. To send without encryption ${withoutTls(endpoint)}; ` +
      'for implicit TLS use port 465, or set `tls_mode` to "implicit".',
  );
}

function tlsError(error: SmtpError, endpoint: Endpoint): OpenError {
  const reason = serverText(error);
  const begin = `No TLS with the SMTP server ${whereOf(endpoint)}: ${reason}`;
  if (error.responseCode !== undefined && error.responseCode < 500) return new OpenError("tls", "yes", begin);
  if (error.responseCode !== undefined || NO_COMMON_VERSION.test(reason)) {
    return new OpenError("tls", "notIfItNeverWorked", begin);
  }
  if (NOT_TLS.test(reason) && tlsOf(endpoint) === "implicit") {
    const help = 'This port does not use implicit TLS: set `tls_mode` to "starttls", or use another port';
    return new OpenError("tls", "yes", `${begin}. ${help}.`);
  }
  if (!CERTIFICATE.test(reason)) return new OpenError("tls", "yes", begin);
  const help = PRIVATE_CA.test(reason)
    ? ". The certificate of a private authority is trusted where NODE_EXTRA_CA_CERTS names the authority's file."
    : "";
  return new OpenError("tls", "no", `${begin}${help}`);
}

function openError(error: SmtpError, endpoint: Endpoint): OpenError {
  if (error instanceof OpenError) return error;
  const where = whereOf(endpoint);
  if (error.code === "EAUTH" || error.command?.startsWith("AUTH")) {
    const temporary = error.responseCode !== undefined && error.responseCode < 500;
    return new OpenError(
      "auth",
      temporary ? "yes" : "no",
      `The SMTP server ${where} refused the login: ${serverText(error)}`,
    );
  }
  if (error.command === "STARTTLS" || error.code === "ETLS" || (!error.responseCode && ABOUT_TLS.test(error.message))) {
    return tlsError(error, endpoint);
  }
  return new OpenError(
    "connect",
    "yes",
    `The SMTP server ${where} did not accept the connection: ${serverText(error)}`,
  );
}

/** Private fields of nodemailer's SMTPConnection, verified by test/unit/smtp-sender/nodemailer-contract.test.ts. */
interface Internals {
  _socket: Socket;
  _ehloLines?: string[];
  /** The full EHLO reply before TLS, if TLS is required. */
  _plaintextEhlo?: string | false;
  _onSocketData(): void;
  _onSocketError(): void;
  _onSocketClose(): void;
  _onSocketEnd(): void;
  _onSocketTimeout(): void;
}

/** Takes over the socket without nodemailer's listeners. */
function detachSocket(connection: SMTPConnection): Socket {
  const inner = inside(connection);
  const socket = inner._socket;
  socket.removeListener("data", inner._onSocketData);
  socket.removeListener("error", inner._onSocketError);
  socket.removeListener("close", inner._onSocketClose);
  socket.removeListener("end", inner._onSocketEnd);
  socket.removeListener("timeout", inner._onSocketTimeout);
  socket.setTimeout(0);
  return socket;
}

const inside = (connection: SMTPConnection) => connection as unknown as Internals;

/** A server without EHLO has no STARTTLS either. */
function lacksStartTls(connection: SMTPConnection, { command, responseCode = 0 }: SmtpError): boolean {
  const answer = inside(connection)._plaintextEhlo;
  if (command === "EHLO") return responseCode >= 500 && typeof answer !== "string";
  return command === "STARTTLS" && typeof answer === "string" && !/^250[ -]STARTTLS\b/im.test(answer);
}

function session(connection: SMTPConnection): Session {
  const words = (inside(connection)._ehloLines ?? []).map((line) => line.toUpperCase().split(/\s+/));
  const offers = (word: string) => words.find(([keyword]) => keyword === word);
  const size = offers("SIZE");
  return {
    socket: detachSocket(connection),
    pipelining: offers("PIPELINING") !== undefined,
    eightBitMime: offers("8BITMIME") !== undefined,
    smtpUtf8: offers("SMTPUTF8") !== undefined,
    size: size && (Number(size[1]) || 0),
  };
}

function tlsOf({ tlsMode = "auto", useTls, port }: Endpoint): Exclude<TlsMode, "auto"> {
  if (tlsMode !== "auto") return tlsMode;
  if (!useTls) return "none";
  return port === 465 ? "implicit" : "starttls";
}

const tlsOptions = (host: string) => ({
  minVersion: "TLSv1.2" as const,
  ...(isIP(host) ? { host } : { servername: domainToASCII(host) || host }),
});

/** Our own handshake, because its errors keep their codes and words. */
async function secured(socket: Socket, endpoint: Endpoint, timeoutMs: number): Promise<TLSSocket> {
  const secure = tlsConnect({ socket, ...tlsOptions(endpoint.host) });
  const timer = setTimeout(() => secure.destroy(new Error("no TLS handshake within the time-out")), timeoutMs);
  try {
    await once(secure, "secureConnect");
    return secure;
  } catch (error) {
    secure.destroy();
    throw tlsError(error as SmtpError, endpoint);
  } finally {
    clearTimeout(timer);
  }
}

/** Mechanisms for the login; throws OpenError if the server offers no password login. */
function mechanismsOf(connection: SMTPConnection, endpoint: Endpoint): string[] {
  const lines = inside(connection)._ehloLines;
  const begin = `The SMTP server ${whereOf(endpoint)} offers no login`;
  // HELO offers nothing, although anything may be supported.
  const offered = lines ? offeredMechanisms(lines) : [];
  if (!offered) {
    const overTls = tlsOf(endpoint) === "none" && lines?.some((line) => /^STARTTLS\b/i.test(line));
    const help = overTls
      ? `It may offer one over TLS: ${endpoint.tlsMode === "none" ? 'set `tls_mode` to "starttls"' : "set `use_tls` to true"}`
      : "Leave `username` and `password` empty, or use the port for logins (often 587)";
    throw new OpenError("auth", "notIfItNeverWorked", `${begin} (AUTH). ${help}.`);
  }
  const mechanisms = passwordMechanisms(offered);
  if (mechanisms.length > 0) return mechanisms;
  throw new OpenError(
    "auth",
    "notIfItNeverWorked",
    `${begin} with a password, but ${offered.join(", ").slice(0, 200)}.`,
  );
}

function greetAndLogin(socket: Socket, endpoint: Endpoint, options: OpenOptions): Promise<Session> {
  const { host, port, username, password } = endpoint;
  const tls = tlsOf(endpoint);
  const greetingMs = options.greetingTimeoutMs ?? GREETING_TIMEOUT_MS;
  const loginMs = options.loginTimeoutMs ?? LOGIN_TIMEOUT_MS;
  const connection = new SMTPConnection({
    host,
    port,
    connection: socket,
    secure: tls === "implicit",
    secured: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    ...(options.name ? { name: options.name } : {}),
    connectionTimeout: greetingMs,
    greetingTimeout: greetingMs,
    socketTimeout: loginMs,
    tls: tlsOptions(host),
  });
  let timer: NodeJS.Timeout | undefined;
  const opened = new Promise<Session>((resolve, reject) => {
    let refusal: SmtpError | undefined;
    const fail = (cause: SmtpError) => {
      // A server may close the connection right after its refusal.
      const error = (cause.responseCode === undefined && CLOSED.has(cause.code) && refusal) || cause;
      // Set before close(), which emits "end" at once: that is not the reason.
      const needsStartTls = tls === "starttls" && lacksStartTls(connection, error);
      reject(needsStartTls ? noStartTls(endpoint) : openError(error, endpoint));
      connection.close();
    };
    // nodemailer's time-outs restart with each byte, and a server may send many.
    timer = setTimeout(() => fail(new Error("no end of it within the time-out")), greetingMs + STEPS * loginMs);
    connection.on("error", fail);
    const closed = Object.assign(new Error("the connection was closed"), { code: "ECONNECTION" });
    connection.once("end", () => fail(closed));
    connection.connect((error) => {
      if (error) return fail(error);
      void (async () => {
        if (username) {
          const login = { user: username, pass: password };
          await logIn(connection, login, mechanismsOf(connection, endpoint), (refused) => {
            refusal = refused;
          });
        }
        resolve(session(connection));
      })().catch(fail);
    });
  });
  return opened.finally(() => clearTimeout(timer));
}

/** Throws OpenError only. */
export async function openSession(endpoint: Endpoint, options: OpenOptions): Promise<Session> {
  const addresses = await resolvePublic(endpoint.host, { allowPrivate: options.allowPrivate }).catch((error: Error) => {
    const refused = error instanceof HostError && error.reason === "refused";
    throw new OpenError("dns", refused ? "no" : "yes", refused ? `${error.message} ${PERMIT_HELP}` : error.message);
  });
  const plain = await connectToFirst(addresses, endpoint, options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
  const handshakeMs = options.greetingTimeoutMs ?? GREETING_TIMEOUT_MS;
  const socket = tlsOf(endpoint) === "implicit" ? await secured(plain, endpoint, handshakeMs) : plain;
  return greetAndLogin(socket, endpoint, options);
}
