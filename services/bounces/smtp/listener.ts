/**
 * The SMTP listener: takes mail for bounce addresses, and nothing else. A message is answered with 250 once all that it
 * does is committed, so that whoever is killed before has lost nothing: the other server tries again, and a report that
 * comes again changes nothing.
 *
 * | what                                  | bound                                          | answer            |
 * |---------------------------------------|------------------------------------------------|-------------------|
 * | connections                           | 200, 20 of a network (IPv4 /24, IPv6 /48)      | 421 at once       |
 * | a message, from the one before it     | 2 minutes, however slowly it comes             | connection ends   |
 * | silence                               | 60 s                                           | connection ends   |
 * | a message                             | 1 MiB, 20 recipients                           | 552, 452          |
 * | messages in memory                    | 64 MiB                                         | 452               |
 * | messages that wait to be stored       | 400                                            | 451               |
 * | the client's side has ended           | 1 s, or until its last message is answered     | connection ends   |
 */
import { createServer, type Server, type Socket } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { newId } from "../../lib/ids.ts";
import { addressPrefix } from "../../lib/ip-networks.ts";
import { MAX_RAW_BYTES } from "../arrival.ts";
import type { Intake } from "../take-in.ts";
import type { Report } from "../verdict.ts";
import { BounceAddresses, type BounceRecipient } from "./bounce-addresses.ts";

const MAX_CONNECTIONS = 200;
const MAX_OF_NETWORK = 20;
const MAX_MESSAGE_MS = 120_000;
const MAX_SILENCE_MS = 60_000;
const MAX_RECIPIENTS = 20;
const MAX_BYTES_IN_MEMORY = 64 * 1024 * 1024;
const STOP_MS = 10_000;
/** After this the rest of a message has been read, or is missing. */
const AFTER_END_MS = 1_000;

interface ListenerOptions {
  port: number;
  host: string;
  /** How it introduces itself. */
  name: string;
  /** PEM; without it there is no STARTTLS. */
  tls?: { cert: string; key: string } | undefined;
  intake: Pick<Intake, "takeIn">;
  readReport(raw: Uint8Array): Promise<Report>;
  onError(error: Error): void;
  limits?: InboundListenerLimits;
}

/** What tests make smaller. */
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

interface Visitor {
  socket: Socket;
  network: string;
  deadline: NodeJS.Timeout;
  message: "none" | "coming" | "whole";
  /** What to answer by, where its side of the connection has ended. */
  ended?: Socket;
  recipients: Map<string, BounceRecipient>;
}

type Done = (error?: Error | null) => void;

/** Runs what may fail or take long; what is no SMTP answer of ours is one that asks to try again. */
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
  readonly #visitors = new Map<string, Visitor>();
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
      // Bounded by the time that a message may take.
      maxAllowedUnauthenticatedCommands: false,
      authOptional: true,
      disabledCommands: options.tls ? ["AUTH"] : ["AUTH", "STARTTLS"],
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: true,
      ...(options.tls ?? {}),
      onMailFrom: (_, { id }, done) => {
        this.#visitors.get(id)?.recipients.clear();
        done(this.#stopping ? shuttingDown() : null);
      },
      onRcptTo: ({ address }, { id }, done) => answered(() => this.#addRecipient(id, address), done, options.onError),
      onSecure: (socket, { id }, done) => {
        this.#untilEnd(id, socket);
        done(null);
      },
      onData: (stream, session, done) => this.#receive(stream, session, done),
      onClose: ({ id }) => this.#left(id),
    });
    // Of one connection alone: resets, broken TLS, nonsense.
    this.#smtp.on("error", () => {});
    // Exim ends its side right behind the last line and QUIT, and waits for the answers: without this they could not be
    // written any more, and it would send each message again.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#entered(socket));
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

  /** Takes no further message; those that have come are stored and answered. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const late = setTimeout(() => this.#endAll(), STOP_MS);
    while (this.#storing.size > 0) await Promise.all(this.#storing);
    clearTimeout(late);
    // The answers are written before their sockets are closed.
    await new Promise((resolve) => setImmediate(resolve));
    for (const connection of this.#smtp.connections) connection.send(421, "4.3.2 Shutting down");
    this.#endAll();
    await closed;
  }

  #endAll(): void {
    for (const { socket } of this.#visitors.values()) socket.destroySoon();
  }

  #entered(socket: Socket): void {
    socket.on("error", () => {});
    const network = addressPrefix(socket.remoteAddress ?? "");
    const { maxConnections = MAX_CONNECTIONS, maxOfNetwork = MAX_OF_NETWORK } = this.#options.limits ?? {};
    const ofNetwork = [...this.#visitors.values()].filter((visitor) => visitor.network === network).length;
    if (this.#stopping || this.#visitors.size >= maxConnections || ofNetwork >= maxOfNetwork) {
      socket.end("421 4.7.0 Too many connections, try again later\r\n");
      socket.destroySoon();
      return;
    }
    const id = newId();
    const deadline = setTimeout(() => socket.destroy(), this.#maxMessageMs);
    this.#visitors.set(id, { socket, network, deadline, message: "none", recipients: new Map() });
    socket.once("close", () => this.#left(id));
    this.#untilEnd(id, socket);
    this.#smtp.connect(socket, { id });
  }

  get #maxMessageMs(): number {
    return this.#options.limits?.maxMessageMs ?? MAX_MESSAGE_MS;
  }

  #left(id: string): void {
    clearTimeout(this.#visitors.get(id)?.deadline);
    this.#visitors.delete(id);
  }

  /** `socket` is the connection's own, or that of TLS on it. */
  #untilEnd(id: string, socket: Socket): void {
    socket.once("end", () => {
      const visitor = this.#visitors.get(id);
      if (!visitor) return;
      visitor.ended = socket;
      if (visitor.message === "none") socket.end();
      if (visitor.message !== "coming") return;
      clearTimeout(visitor.deadline);
      visitor.deadline = setTimeout(() => {
        if (visitor.message === "coming") socket.end();
        else visitor.deadline = setTimeout(() => visitor.socket.destroy(), this.#maxMessageMs);
      }, this.#options.limits?.afterEndMs ?? AFTER_END_MS);
    });
  }

  async #addRecipient(id: string, address: string): Promise<void> {
    const recipient = await this.#addresses.find(address);
    if (!recipient) throw noSuchMailbox();
    this.#visitors.get(id)?.recipients.set(address.toLowerCase(), recipient);
  }

  #receive(stream: SMTPServerDataStream, session: SMTPServerSession, done: Done): void {
    const visitor = this.#visitors.get(session.id);
    if (visitor) visitor.message = "coming";
    const answer: Done = (error) => {
      if (visitor) visitor.message = "none";
      // smtp-server itself writes nothing once the other side has ended.
      visitor?.ended?.write(error instanceof SmtpError ? error.line : "250 2.0.0 OK\r\n");
      done(error);
      visitor?.ended?.end();
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
      if (visitor) visitor.message = "whole";
      const storing = work();
      const over = storing
        .catch(() => {})
        .finally(() => {
          forget();
          this.#storing.delete(over);
        });
      this.#storing.add(over);
      answered(() => storing, answer, this.#options.onError);
    });
    // The connection ended within the message: nobody is answered. One that came whole counts until it is stored.
    stream.once("close", () => {
      if (!isWhole) forget();
    });
  }

  async #store(raw: Buffer, { id }: SMTPServerSession): Promise<void> {
    const visitor = this.#visitors.get(id);
    const recipients = [...(visitor?.recipients.values() ?? [])];
    const report = await this.#options.readReport(raw);
    const { intake } = this.#options;
    await Promise.all(recipients.map((recipient) => intake.takeIn({ via: "smtp", ...recipient, report, raw })));
    if (visitor && !visitor.ended && this.#visitors.has(id)) {
      clearTimeout(visitor.deadline);
      visitor.deadline = setTimeout(() => visitor.socket.destroy(), this.#maxMessageMs);
    }
  }
}
