/**
 * Opens a session with an SMTP server: address checked and pinned, connected, greeting, TLS, login. nodemailer's
 * SMTPConnection does the protocol up to here; then the socket is ours.
 */
import { once } from "node:events";
import { isIP, type Socket, connect as tcpConnect } from "node:net";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { toOneLine } from "../../lib/one-line.ts";
import { HostError, type PinnedAddress, resolvePublic } from "../../lib/ssrf/guard.ts";

export interface Endpoint {
  host: string;
  port: number;
  useTls: boolean;
  username: string;
  password: string;
}

export interface Session {
  socket: Socket;
  pipelining: boolean;
  eightBitMime: boolean;
  smtpUtf8: boolean;
  /** SIZE offered; its value, 0 where the server names none. */
  size: number | undefined;
  loggedIn: boolean;
}

interface OpenOptions {
  allowPrivate: boolean;
  /** Our name in EHLO. */
  name?: string;
  /** For one address. */
  connectTimeoutMs?: number;
  greetingTimeoutMs?: number;
  /** Until each answer of the login. */
  loginTimeoutMs?: number;
}

type OpenStage = "dns" | "connect" | "tls" | "auth";

/** `permanent`: only the user can change it (a wrong password, no TLS); otherwise the server may be back in a while. */
export class OpenError extends Error {
  readonly stage: OpenStage;
  readonly permanent: boolean;

  constructor(stage: OpenStage, permanent: boolean, sentence: string) {
    // It may quote the server, and is stored.
    super(toOneLine(sentence));
    this.name = "OpenError";
    this.stage = stage;
    this.permanent = permanent;
  }
}

// RFC 5321 section 4.5.3.2.1 wants five minutes for the greeting. A TCP handshake is given up sooner, to try the next
// address.
const CONNECT_TIMEOUT_MS = 30_000;
const GREETING_TIMEOUT_MS = 300_000;
const LOGIN_TIMEOUT_MS = 120_000;
/** EHLO, twice with STARTTLS, and AUTH with a challenge. */
const STEPS = 4;

type SmtpError = Error & { code?: string; responseCode?: number; response?: string; command?: string };

async function tcp(address: PinnedAddress, port: number, timeoutMs: number): Promise<Socket> {
  const socket = tcpConnect({ host: address.address, port, family: address.family, noDelay: true });
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
  throw new OpenError("connect", false, `No connection to ${endpoint.host}:${endpoint.port} (${reason}).`);
}

/** OpenSSL puts a thread, a number, a library and a source position around its reason. */
const OPENSSL = /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):.*$/s;

const serverText = (error: SmtpError) =>
  error.response?.replace(/\s+/g, " ").trim().slice(0, 500) ?? error.message.replace(OPENSSL, "$1");

const ABOUT_TLS = /certificate|altname|ssl|tls|wrong version number|self.signed|handshake/i;

function openError(error: SmtpError, endpoint: Endpoint): OpenError {
  const where = `${endpoint.host}:${endpoint.port}`;
  const refused = (error.responseCode ?? 0) >= 500;
  if (error.code === "EAUTH" || error.command?.startsWith("AUTH")) {
    const temporary = error.responseCode !== undefined && !refused;
    return new OpenError("auth", !temporary, `The SMTP server ${where} refused the login: ${serverText(error)}`);
  }
  if (error.command === "STARTTLS" || error.code === "ETLS" || (!error.responseCode && ABOUT_TLS.test(error.message))) {
    const temporary = error.responseCode !== undefined && !refused;
    return new OpenError("tls", !temporary, `No TLS with the SMTP server ${where}: ${serverText(error)}`);
  }
  return new OpenError(
    "connect",
    false,
    `The SMTP server ${where} did not accept the connection: ${serverText(error)}`,
  );
}

/** Private fields of nodemailer's SMTPConnection, held by test/unit/smtp-sender/nodemailer-contract.test.ts. */
interface Internals {
  _socket: Socket;
  _ehloLines?: string[];
  _onSocketData(): void;
  _onSocketError(): void;
  _onSocketClose(): void;
  _onSocketEnd(): void;
  _onSocketTimeout(): void;
}

/** The socket without the listeners of nodemailer. */
function takeOver(connection: SMTPConnection): Socket {
  const inner = connection as unknown as Internals;
  const socket = inner._socket;
  socket.removeListener("data", inner._onSocketData);
  socket.removeListener("error", inner._onSocketError);
  socket.removeListener("close", inner._onSocketClose);
  socket.removeListener("end", inner._onSocketEnd);
  socket.removeListener("timeout", inner._onSocketTimeout);
  socket.setTimeout(0);
  return socket;
}

function session(connection: SMTPConnection, loggedIn: boolean): Session {
  const words = ((connection as unknown as Internals)._ehloLines ?? []).map((line) => line.toUpperCase().split(/\s+/));
  const offers = (word: string) => words.find(([keyword]) => keyword === word);
  const size = offers("SIZE");
  return {
    socket: takeOver(connection),
    pipelining: offers("PIPELINING") !== undefined,
    eightBitMime: offers("8BITMIME") !== undefined,
    smtpUtf8: offers("SMTPUTF8") !== undefined,
    size: size && (Number(size[1]) || 0),
    loggedIn,
  };
}

function greetAndLogin(socket: Socket, endpoint: Endpoint, options: OpenOptions): Promise<Session> {
  const { host, port, useTls, username, password } = endpoint;
  const implicit = useTls && port === 465;
  const greetingMs = options.greetingTimeoutMs ?? GREETING_TIMEOUT_MS;
  const loginMs = options.loginTimeoutMs ?? LOGIN_TIMEOUT_MS;
  const connection = new SMTPConnection({
    host,
    port,
    connection: socket,
    secure: implicit,
    requireTLS: useTls && !implicit,
    ignoreTLS: !useTls,
    ...(options.name ? { name: options.name } : {}),
    connectionTimeout: greetingMs,
    greetingTimeout: greetingMs,
    socketTimeout: loginMs,
    tls: { minVersion: "TLSv1.2", ...(isIP(host) ? {} : { servername: host }) },
  });
  let timer: NodeJS.Timeout | undefined;
  const opened = new Promise<Session>((resolve, reject) => {
    const fail = (error: SmtpError) => {
      // Before close(), which emits "end" at once: that is not the reason.
      reject(openError(error, endpoint));
      connection.close();
    };
    // nodemailer's time-outs begin anew with each byte, and a server may send many.
    timer = setTimeout(() => fail(new Error("no end of it within the time-out")), greetingMs + STEPS * loginMs);
    connection.on("error", fail);
    connection.once("end", () => fail(new Error("the connection was closed")));
    connection.connect((error) => {
      if (error) return fail(error);
      // As every mailer does: a server that offers no AUTH gets no login.
      if (!username || !connection.allowsAuth) return resolve(session(connection, false));
      connection.login({ credentials: { user: username, pass: password } }, (refused) => {
        if (refused) fail(refused);
        else resolve(session(connection, true));
      });
    });
  });
  return opened.finally(() => clearTimeout(timer));
}

/** Throws OpenError only. */
export async function openSession(endpoint: Endpoint, options: OpenOptions): Promise<Session> {
  const addresses = await resolvePublic(endpoint.host, { allowPrivate: options.allowPrivate }).catch((error: Error) => {
    throw new OpenError("dns", error instanceof HostError && error.reason === "refused", error.message);
  });
  const socket = await connectToFirst(addresses, endpoint, options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
  return greetAndLogin(socket, endpoint, options);
}
