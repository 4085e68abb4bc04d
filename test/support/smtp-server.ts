/**
 * The SMTP server of all tests: raw sockets, scriptable answers, and every accepted message stored with its envelope and
 * original bytes. Accepts pipelined commands (RFC 2920) only if it offers PIPELINING.
 *
 *     const server = await startSmtpServer({ answer: ({ verb, to }) => (to === "x@y.z" ? "550 5.1.1 no" : undefined) });
 *     … await server.received(3); server.messages[0].raw; await server.stop();
 */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { type Certificate, selfMadeCertificate } from "./certificate.ts";
import { SmtpSession } from "./smtp-session.ts";

export interface Accepted {
  messageId: string;
  from: string;
  to: string[];
  /** The data between DATA and the final dot, with dots unstuffed. */
  raw: string;
  /** Number of the connection, from 1. */
  connection: number;
  /** Wall-clock time in milliseconds. */
  at: number;
  user: string | null;
  tls: boolean;
  /** Parameters after the address in MAIL FROM. */
  parameters: string;
}

export interface Command {
  /** "CONNECT" asks for the greeting, "DOT" for the answer to the message. */
  verb: "CONNECT" | "EHLO" | "STARTTLS" | "AUTH" | "MAIL" | "RCPT" | "DATA" | "DOT" | "RSET" | "NOOP" | "QUIT";
  line: string;
  from: string;
  /** Address of this RCPT, else the last accepted one. */
  to: string;
  connection: number;
  /** Number of messages accepted earlier on this connection. */
  accepted: number;
  messageId: string;
}

/**
 * A reply (without CRLF; "\n" makes it multi-line), optionally after a pause; or the end of the connection, with or
 * without the reply. `accept` decides for DOT whether the message counts as accepted (default: on a 2xx reply).
 */
export type Answer =
  | string
  | { reply?: string; delayMs?: number; drop?: boolean; accept?: boolean; hang?: boolean }
  | undefined;

export interface SmtpServerOptions {
  /** Undefined means the usual answer. */
  answer?: (command: Command) => Answer;
  /** Default true. */
  pipelining?: boolean;
  /** Answers RCPT and DATA as usual although MAIL was refused. */
  answersAnyway?: boolean;
  /**
   * Keeps the transaction open after refusing a message at its end, like Postfix with smtpd_end_of_data_restrictions.
   */
  keepsRefusedTransaction?: boolean;
  /**
   * EHLO keywords besides PIPELINING, STARTTLS and AUTH. Default: SIZE 20000000, 8BITMIME, SMTPUTF8,
   * ENHANCEDSTATUSCODES.
   */
  extensions?: string[];
  /**
   * Mechanisms: `has` are those that work (default PLAIN), `offers` those in EHLO (default `has`); supported are PLAIN
   * and LOGIN.
   */
  auth?: { user: string; pass: string; has?: string[]; offers?: string[] };
  tls?: "starttls" | "implicit";
  certificate?: Certificate;
  /** Answers 421 above this number of connections. */
  maxConnections?: number;
  /** Ends each connection with 421 at the MAIL after this number of messages. */
  maxMessagesPerConnection?: number;
  /** Pause before each reply, per verb or for all. */
  delayMs?: number | Partial<Record<Command["verb"], number>>;
  /** Destroys connection n after it has sent this many bytes. */
  dropAtByte?: (connection: number) => number | undefined;
  /** Splits replies into writes (fuzzing). Default: one write for everything ready. */
  cut?: (text: string) => string[];
  /** False counts messages without storing their bytes. */
  keep?: boolean;
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
}

export class SmtpServer {
  readonly messages: Accepted[] = [];
  /** Accepted copies by "message id recipient". */
  readonly counts = new Map<string, number>();
  readonly protocolErrors: string[] = [];
  readonly options: SmtpServerOptions;
  readonly certificate: Certificate;
  connections = 0;
  openConnections = 0;
  peakConnections = 0;
  accepted = 0;
  port = 0;
  #server: Server;
  #sockets = new Set<Socket>();
  #waiting: { n: number; done: () => void }[] = [];

  constructor(options: SmtpServerOptions) {
    this.options = options;
    this.certificate = options.certificate ?? selfMadeCertificate();
    const open = (socket: Socket) => this.#open(socket);
    this.#server = options.tls === "implicit" ? createTlsServer(this.certificate, open) : createServer(open);
    this.#server.on("tlsClientError", () => {});
  }

  get host(): string {
    return this.options.host ?? "127.0.0.1";
  }

  #open(socket: Socket): void {
    this.connections++;
    this.openConnections++;
    this.peakConnections = Math.max(this.peakConnections, this.openConnections);
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      this.openConnections--;
      this.#sockets.delete(socket);
    });
    const session = new SmtpSession(this, socket, this.connections);
    session.greet(this.openConnections > (this.options.maxConnections ?? Number.POSITIVE_INFINITY));
  }

  async listen(): Promise<this> {
    this.#server.listen(this.options.port ?? 0, this.host, 4_096);
    await once(this.#server, "listening");
    this.port = (this.#server.address() as { port: number }).port;
    return this;
  }

  accept(message: Accepted): void {
    this.accepted++;
    for (const to of message.to) {
      // Copied: a slice would keep the whole message in memory.
      const key = Buffer.from(`${message.messageId} ${to}`).toString();
      this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    }
    if (this.options.keep !== false) this.messages.push(message);
    this.#waiting = this.#waiting.filter(({ n, done }) => {
      if (this.accepted < n) return true;
      done();
      return false;
    });
  }

  /** Entries "message id recipient" that were accepted more than once. */
  get doubled(): string[] {
    return [...this.counts].flatMap(([key, n]) => (n > 1 ? [key] : []));
  }

  /** Resolves once `n` messages have been accepted since the start. */
  received(n: number, timeoutMs = 50_000): Promise<void> {
    if (this.accepted >= n) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`${this.accepted} of ${n} messages arrived within ${timeoutMs} ms`));
      const timer = setTimeout(fail, timeoutMs);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push({ n, done });
    });
  }

  /** Cuts all connections, like a crash of the server. */
  dropAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    this.dropAll();
    await closed;
  }
}

export const startSmtpServer = (options: SmtpServerOptions = {}): Promise<SmtpServer> =>
  new SmtpServer(options).listen();
