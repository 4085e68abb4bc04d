/** One connection of the test server: reads commands and messages, consults the script, answers in order. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Answer, Command, SmtpServer } from "./smtp-server.ts";

const DEFAULT_EXTENSIONS = ["SIZE 20000000", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"];

const USUAL: Record<Command["verb"], string> = {
  CONNECT: "220 test.example ESMTP",
  EHLO: "250 test.example",
  STARTTLS: "220 2.0.0 Ready",
  AUTH: "235 2.7.0 Accepted",
  MAIL: "250 2.1.0 Sender ok",
  RCPT: "250 2.1.5 Recipient ok",
  DATA: "354 Go ahead",
  DOT: "250 2.0.0 Queued",
  RSET: "250 2.0.0 Reset",
  NOOP: "250 2.0.0 Ok",
  QUIT: "221 2.0.0 Bye",
};

const address = (line: string) => /<([^>]*)>/.exec(line)?.[1] ?? "";

export class SmtpSession {
  #server: SmtpServer;
  #socket: Socket;
  #connection: number;
  #input = "";
  #bytes = 0;
  #output = "";
  #busy = false;
  #dead = false;
  #inData = false;
  #from: string | null = null;
  #parameters = "";
  #to: string[] = [];
  #accepted = 0;
  #user: string | null = null;
  /** Answers to AUTH LOGIN so far. */
  #login: string[] | undefined;
  #tls: boolean;

  constructor(server: SmtpServer, socket: Socket, connection: number) {
    this.#server = server;
    this.#socket = socket;
    this.#connection = connection;
    this.#tls = server.options.tls === "implicit";
    this.#listen();
  }

  #listen(): void {
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  #read(chunk: Buffer): void {
    const dropAt = this.#server.options.dropAtByte?.(this.#connection);
    if (dropAt !== undefined && this.#bytes + chunk.length >= dropAt) {
      this.#input += chunk.subarray(0, dropAt - this.#bytes).toString("latin1");
      this.#bytes = dropAt;
      // Complete commands are still executed; their answers are lost.
      void this.#work().then(() => this.#drop());
      return;
    }
    this.#bytes += chunk.length;
    this.#input += chunk.toString("latin1");
    void this.#work();
  }

  #drop(): void {
    this.#dead = true;
    this.#socket.destroy();
  }

  greet(tooMany: boolean): void {
    if (tooMany) {
      this.#socket.end("421 4.7.0 Too many connections\r\n");
      this.#dead = true;
      return;
    }
    this.#busy = true;
    void this.#say("CONNECT", "").then(() => {
      this.#busy = false;
      return this.#work();
    });
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      while (!this.#dead && (this.#inData ? await this.#message() : await this.#command()));
      this.#flush();
    } finally {
      this.#busy = false;
    }
  }

  #flush(): void {
    if (!this.#output || this.#dead) return;
    const pieces = this.#server.options.cut?.(this.#output) ?? [this.#output];
    this.#output = "";
    for (const piece of pieces) this.#socket.write(piece, "latin1");
  }

  async #say(verb: Command["verb"], line: string, extra: Partial<Command> & { usual?: string } = {}): Promise<string> {
    const { options } = this.#server;
    const command: Command = {
      verb,
      line,
      from: this.#from ?? "",
      to: this.#to.at(-1) ?? "",
      connection: this.#connection,
      accepted: this.#accepted,
      messageId: "",
      ...extra,
    };
    const answer: Answer = options.answer?.(command);
    const scripted = typeof answer === "string" ? { reply: answer } : (answer ?? {});
    const reply = scripted.reply ?? extra.usual ?? USUAL[verb];
    const pauseMs = scripted.delayMs ?? (typeof options.delayMs === "object" ? options.delayMs[verb] : options.delayMs);
    if (pauseMs) {
      this.#flush();
      await new Promise((done) => setTimeout(done, pauseMs));
    }
    if (verb === "DOT" && (scripted.accept ?? reply.startsWith("2"))) this.#keep(line, command.messageId);
    if (scripted.hang) {
      this.#flush();
      this.#dead = true;
      return "";
    }
    if (scripted.drop && scripted.reply === undefined) {
      this.#flush();
      this.#drop();
      return "";
    }
    this.#output += this.#lines(reply);
    if (verb === "CONNECT" || verb === "STARTTLS") this.#flush();
    if (scripted.drop || reply.startsWith("421") || verb === "QUIT") {
      this.#flush();
      this.#dead = true;
      this.#socket.end();
    }
    return reply;
  }

  #lines(reply: string): string {
    const lines = reply.split("\n");
    const code = reply.slice(0, 3);
    const rest = lines.slice(1, -1).map((line) => `${code}-${line}\r\n`);
    if (lines.length === 1) return `${reply}\r\n`;
    return `${code}-${lines[0]!.slice(4)}\r\n${rest.join("")}${code} ${lines.at(-1)}\r\n`;
  }

  #keep(raw: string, messageId: string): void {
    this.#accepted++;
    this.#server.accept({
      messageId,
      from: this.#from ?? "",
      to: this.#to,
      raw,
      connection: this.#connection,
      at: Date.now(),
      user: this.#user,
      tls: this.#tls,
      parameters: this.#parameters,
    });
  }

  #reset(): void {
    this.#from = null;
    this.#parameters = "";
    this.#to = [];
  }

  async #message(): Promise<boolean> {
    const empty = this.#input.startsWith(".\r\n");
    const end = empty ? 0 : this.#input.indexOf("\r\n.\r\n");
    if (end < 0) return false;
    const raw = empty ? "" : this.#input.slice(0, end + 2).replace(/^\.\./gm, ".");
    this.#input = this.#input.slice(empty ? 3 : end + 5);
    this.#inData = false;
    const messageId = /^message-id:\s*(<[^>]*>)/im.exec(raw)?.[1] ?? "";
    const reply = await this.#say("DOT", raw, {
      messageId,
      usual: this.#to.length === 0 ? "554 5.5.1 No valid recipients" : USUAL.DOT,
    });
    if (reply.startsWith("2") || !this.#server.options.keepsRefusedTransaction) this.#reset();
    return true;
  }

  async #command(): Promise<boolean> {
    const end = this.#input.indexOf("\r\n");
    if (end < 0) return false;
    const line = this.#input.slice(0, end);
    this.#input = this.#input.slice(end + 2);
    if (this.#input && this.#server.options.pipelining === false) {
      this.#server.protocolErrors.push(`pipelined although not offered: ${line}`);
    }
    await this.#obey(line);
    return true;
  }

  async #obey(line: string): Promise<void> {
    if (this.#login) return this.#loginLine(line);
    const verb = line.split(" ")[0]!.toUpperCase();
    switch (verb) {
      case "EHLO":
        this.#reset();
        await this.#say("EHLO", line, { usual: this.#ehlo() });
        return;
      case "STARTTLS":
        return this.#startTls(line);
      case "AUTH":
        return this.#auth(line);
      case "MAIL":
        return this.#mail(line);
      case "RCPT":
        return this.#rcpt(line);
      case "DATA":
        return this.#data(line);
      case "RSET":
        this.#reset();
        await this.#say("RSET", line);
        return;
      case "NOOP":
      case "QUIT":
        await this.#say(verb, line);
        return;
      default:
        this.#server.protocolErrors.push(`unknown command: ${line.slice(0, 80)}`);
        this.#output += "500 5.5.2 What?\r\n";
    }
  }

  #ehlo(): string {
    const { options } = this.#server;
    const words = [...(options.extensions ?? DEFAULT_EXTENSIONS)];
    if (options.pipelining !== false) words.push("PIPELINING");
    if (options.tls === "starttls" && !this.#tls) words.push("STARTTLS");
    const { auth } = options;
    if (auth) words.push(`AUTH ${(auth.offers ?? auth.has ?? ["PLAIN"]).join(" ")}`);
    return [USUAL.EHLO, ...words].join("\n");
  }

  #refuse(reply: string): void {
    this.#output += `${reply}\r\n`;
  }

  async #mail(line: string): Promise<void> {
    const { auth, maxMessagesPerConnection } = this.#server.options;
    if (auth && !this.#user) return this.#refuse("530 5.7.0 Authentication required");
    if (this.#from !== null) return this.#refuse("503 5.5.1 Nested MAIL command");
    if (this.#accepted >= (maxMessagesPerConnection ?? Number.POSITIVE_INFINITY)) {
      await this.#say("MAIL", line, { from: address(line), usual: "421 4.7.0 Too many messages on this connection" });
      return;
    }
    const reply = await this.#say("MAIL", line, { from: address(line) });
    if (!reply.startsWith("2")) return;
    this.#from = address(line);
    this.#parameters = line.slice(line.indexOf(">") + 1).trim();
  }

  async #rcpt(line: string): Promise<void> {
    if (this.#from === null && !this.#server.options.answersAnyway) {
      return this.#refuse("503 5.5.1 Need MAIL first");
    }
    const to = address(line);
    const reply = await this.#say("RCPT", line, { to });
    if (reply.startsWith("2")) this.#to = [...this.#to, to];
  }

  async #data(line: string): Promise<void> {
    if (this.#from === null && !this.#server.options.answersAnyway) {
      return this.#refuse("503 5.5.1 Need MAIL first");
    }
    const usual = this.#to.length === 0 ? "554 5.5.1 No valid recipients" : USUAL.DATA;
    const reply = await this.#say("DATA", line, { usual });
    this.#inData = reply.startsWith("354");
    if (this.#inData && this.#input) this.#server.protocolErrors.push("commands behind DATA in one group");
  }

  async #startTls(line: string): Promise<void> {
    if (this.#server.options.tls !== "starttls" || this.#tls) return this.#refuse("502 5.5.1 Not offered");
    const reply = await this.#say("STARTTLS", line);
    if (!reply.startsWith("220") || this.#dead) return;
    this.#socket.removeAllListeners("data");
    const { cert, key } = this.#server.certificate;
    this.#socket = new TLSSocket(this.#socket, { isServer: true, cert, key });
    this.#socket.on("error", () => this.#drop());
    this.#tls = true;
    this.#input = "";
    this.#reset();
    this.#listen();
  }

  async #auth(line: string): Promise<void> {
    const has = this.#server.options.auth?.has ?? ["PLAIN"];
    const [, method = "", initial = ""] = line.split(" ");
    if (!has.includes(method.toUpperCase())) return this.#refuse(`504 5.5.4 Only ${has.join(", ")}`);
    if (method.toUpperCase() === "LOGIN") {
      this.#login = [];
      return this.#refuse("334 VXNlcm5hbWU6");
    }
    const [, user, pass] = Buffer.from(initial, "base64").toString().split("\0");
    return this.#credentials(line, user, pass);
  }

  async #loginLine(line: string): Promise<void> {
    const [user, pass] = this.#login!.concat(Buffer.from(line, "base64").toString());
    if (pass === undefined) {
      this.#login = [user!];
      return this.#refuse("334 UGFzc3dvcmQ6");
    }
    this.#login = undefined;
    return this.#credentials("AUTH LOGIN", user, pass);
  }

  async #credentials(line: string, user = "", pass = ""): Promise<void> {
    const { auth } = this.#server.options;
    const right = auth && auth.user === user && auth.pass === pass;
    const reply = await this.#say("AUTH", line, {
      usual: right ? USUAL.AUTH : "535 5.7.8 Authentication credentials invalid",
    });
    if (reply.startsWith("235")) this.#user = user;
  }
}
