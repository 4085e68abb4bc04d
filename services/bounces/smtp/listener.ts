/**
 * SMTP listener that accepts only mail for bounce addresses. A message is answered with 250 once all its effects are
 * committed. If the process dies before that, the client sends it again; a duplicate report changes nothing.
 *
 * | what                                  | limit                                          | answer            |
 * |---------------------------------------|------------------------------------------------|-------------------|
 * | connections                           | 200, 20 per network (IPv4 /24, IPv6 /48)       | 421 at once       |
 * | time per message                      | 2 minutes since the message before             | connection closed |
 * | idle time                             | 60 s                                           | connection closed |
 * | message                               | 1 MiB, 20 recipients                           | 552, 452          |
 * | messages in memory                    | 64 MiB                                         | 452               |
 * | messages waiting to be stored         | 400                                            | 451               |
 * | client has closed its side            | 1 s, or until its last message is answered     | connection closed |
 */
import { createServer, type Server, type Socket } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { newId } from "../../lib/ids.ts";
import { addressPrefix } from "../../lib/ip-networks.ts";
import { MAX_RAW_BYTES } from "../incoming-report.ts";
import type { Ingester } from "../ingest.ts";
import type { Report } from "../verdict.ts";
import { BounceAddresses, type BounceRecipient } from "./bounce-addresses.ts";

const MAX_CONNECTIONS = 200;
const MAX_OF_NETWORK = 20;
const MAX_MESSAGE_MS = 120_000;
const MAX_SILENCE_MS = 60_000;
const MAX_RECIPIENTS = 20;
const MAX_BYTES_IN_MEMORY = 64 * 1024 * 1024;
const STOP_MS = 10_000;
/** Grace period after the client's FIN: by then the message is complete or truncated. */
const AFTER_END_MS = 1_000;

interface ListenerOptions {
  port: number;
  host: string;
  /** Host name in the greeting. */
  name: string;
  /** PEM; without it STARTTLS is not offered. */
  tls?: { cert: string; key: string } | undefined;
  ingester: Pick<Ingester, "ingest">;
  readReport(raw: Uint8Array): Promise<Report>;
  onError(error: Error): void;
  limits?: InboundListenerLimits;
}

/** Limits that tests reduce. */
export interface InboundListenerLimits {
  maxMessageMs?: number;
  maxConnections?: number;
  maxOfNetwork?: number;
  afterEndMs?: number;
}

class SmtpError extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }

  get line(): string {
    return `${this.responseCode} ${this.message}\r\n`;
  }
}

const noSuchMailbox = () => new SmtpError(550, "5.1.1 No such mailbox here");
const shuttingDown = () => new SmtpError(421, "4.3.2 Shutting down, try again later");

interface Connection {
  socket: Socket;
  network: string;
  deadline: NodeJS.Timeout;
  message: "none" | "receiving" | "complete";
  /** Socket to answer on after the client has closed its side. */
  ended?: Socket;
  recipients: Map<string, BounceRecipient>;
}

type Done = (error?: Error | null) => void;

/** Answers unexpected errors with 451, so that the client tries again. */
const answered = (work: () => Promise<void>, done: Done, onError: (error: Error) => void): void =>
  void work().then(
    () => done(),
    (error: Error) => {
      if (!(error instanceof SmtpError)) onError(error);
      done(error instanceof SmtpError ? error : new SmtpError(451, "4.3.0 Cannot store it now, try again later"));
    },
  );

export class InboundListener {
  readonly #options: ListenerOptions;
  readonly #addresses = new BounceAddresses();
  readonly #smtp: SMTPServer;
  readonly #server: Server;
  readonly #connections = new Map<string, Connection>();
  readonly #storing = new Set<Promise<void>>();
  #bytesInMemory = 0;
  #stopping = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#smtp = new SMTPServer({
      name: options.name,
      banner: "bounces only",
      logger: false,
      size: MAX_RAW_BYTES,
      maxRecipients: MAX_RECIPIENTS,
      socketTimeout: MAX_SILENCE_MS,
      // Bounded by the time limit of a message.
      maxAllowedUnauthenticatedCommands: false,
      authOptional: true,
      disabledCommands: options.tls ? ["AUTH"] : ["AUTH", "STARTTLS"],
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: true,
      ...(options.tls ?? {}),
      onMailFrom: (_, { id }, done) => {
        this.#connections.get(id)?.recipients.clear();
        done(this.#stopping ? shuttingDown() : null);
      },
      onRcptTo: ({ address }, { id }, done) => answered(() => this.#addRecipient(id, address), done, options.onError),
      onSecure: (socket, { id }, done) => {
        this.#watchEnd(id, socket);
        done(null);
      },
      onData: (stream, session, done) => this.#receive(stream, session, done),
      onClose: ({ id }) => this.#remove(id),
    });
    // Errors of one connection: resets, broken TLS, invalid data.
    this.#smtp.on("error", () => {});
    // Exim closes its side right after QUIT and waits for the answers. Without half-open sockets they could not be
    // sent, and Exim would send each message again.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#options.port, this.#options.host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    this.#server.on("error", this.#options.onError);
    return (this.#server.address() as { port: number }).port;
  }

  /** Certificates are renewed while the service runs. */
  useTls(tls: { cert: string; key: string }): void {
    this.#smtp.updateSecureContext(tls);
  }

  /** Refuses new messages; those received are stored and answered. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const late = setTimeout(() => this.#endAll(), STOP_MS);
    while (this.#storing.size > 0) await Promise.all(this.#storing);
    clearTimeout(late);
    // Let answers be written before the sockets are closed.
    await new Promise((resolve) => setImmediate(resolve));
    for (const connection of this.#smtp.connections) connection.send(421, "4.3.2 Shutting down");
    this.#endAll();
    await closed;
  }

  #endAll(): void {
    for (const { socket } of this.#connections.values()) socket.destroySoon();
  }

  #accept(socket: Socket): void {
    socket.on("error", () => {});
    const network = addressPrefix(socket.remoteAddress ?? "");
    const { maxConnections = MAX_CONNECTIONS, maxOfNetwork = MAX_OF_NETWORK } = this.#options.limits ?? {};
    const ofNetwork = [...this.#connections.values()].filter((connection) => connection.network === network).length;
    if (this.#stopping || this.#connections.size >= maxConnections || ofNetwork >= maxOfNetwork) {
      socket.end("421 4.7.0 Too many connections, try again later\r\n");
      socket.destroySoon();
      return;
    }
    const id = newId();
    const deadline = setTimeout(() => socket.destroy(), this.#maxMessageMs);
    this.#connections.set(id, { socket, network, deadline, message: "none", recipients: new Map() });
    socket.once("close", () => this.#remove(id));
    this.#watchEnd(id, socket);
    this.#smtp.connect(socket, { id });
  }

  get #maxMessageMs(): number {
    return this.#options.limits?.maxMessageMs ?? MAX_MESSAGE_MS;
  }

  #remove(id: string): void {
    clearTimeout(this.#connections.get(id)?.deadline);
    this.#connections.delete(id);
  }

  /** `socket` is the connection or the TLS socket on it. */
  #watchEnd(id: string, socket: Socket): void {
    socket.once("end", () => {
      const connection = this.#connections.get(id);
      if (!connection) return;
      connection.ended = socket;
      if (connection.message === "none") socket.end();
      if (connection.message !== "receiving") return;
      clearTimeout(connection.deadline);
      connection.deadline = setTimeout(() => {
        if (connection.message === "receiving") socket.end();
        else connection.deadline = setTimeout(() => connection.socket.destroy(), this.#maxMessageMs);
      }, this.#options.limits?.afterEndMs ?? AFTER_END_MS);
    });
  }

  async #addRecipient(id: string, address: string): Promise<void> {
    const recipient = await this.#addresses.find(address);
    if (!recipient) throw noSuchMailbox();
    this.#connections.get(id)?.recipients.set(address.toLowerCase(), recipient);
  }

  #receive(stream: SMTPServerDataStream, session: SMTPServerSession, done: Done): void {
    const connection = this.#connections.get(session.id);
    if (connection) connection.message = "receiving";
    const answer: Done = (error) => {
      if (connection) connection.message = "none";
      // smtp-server does not write once the client has closed its side.
      connection?.ended?.write(error instanceof SmtpError ? error.line : "250 2.0.0 OK\r\n");
      done(error);
      connection?.ended?.end();
    };
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isTooMuch = false;
    let isWhole = false;
    const forget = () => {
      this.#bytesInMemory -= bytes;
      bytes = 0;
      chunks.length = 0;
    };
    stream.on("data", (chunk: Buffer) => {
      isTooMuch ||= this.#bytesInMemory + chunk.length > MAX_BYTES_IN_MEMORY;
      if (stream.sizeExceeded || isTooMuch) {
        forget();
        return;
      }
      bytes += chunk.length;
      this.#bytesInMemory += chunk.length;
      chunks.push(chunk);
    });
    const work = async () => {
      if (stream.sizeExceeded) throw new SmtpError(552, `5.3.4 At most ${MAX_RAW_BYTES} bytes`);
      if (isTooMuch) throw new SmtpError(452, "4.3.1 Too many messages at once, try again later");
      await this.#store(Buffer.concat(chunks), session);
    };
    stream.once("end", () => {
      isWhole = true;
      if (connection) connection.message = "complete";
      const storing = work();
      const settled = storing
        .catch(() => {})
        .finally(() => {
          forget();
          this.#storing.delete(settled);
        });
      this.#storing.add(settled);
      answered(() => storing, answer, this.#options.onError);
    });
    // The connection closed during the message, so no reply is possible. A complete message counts as open until it is
    // stored.
    stream.once("close", () => {
      if (!isWhole) forget();
    });
  }

  async #store(raw: Buffer, { id }: SMTPServerSession): Promise<void> {
    const connection = this.#connections.get(id);
    const recipients = [...(connection?.recipients.values() ?? [])];
    const report = await this.#options.readReport(raw);
    const { ingester } = this.#options;
    await Promise.all(recipients.map((recipient) => ingester.ingest({ via: "smtp", ...recipient, report, raw })));
    if (connection && !connection.ended && this.#connections.has(id)) {
      clearTimeout(connection.deadline);
      connection.deadline = setTimeout(() => connection.socket.destroy(), this.#maxMessageMs);
    }
  }
}
