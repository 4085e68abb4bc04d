/** A line-by-line conversation with an SMTP server, as in a terminal. */
import { once } from "node:events";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

const ANSWER_MS = 30_000;
const LAST_LINE = /^\d{3} .*\r\n/m;

export class SmtpDialogue {
  #socket: Socket;
  #input = "";
  /** Wakes the reader that waits for a reply. */
  #wake = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen();
  }

  /** Connects and returns the greeting, or another first reply. */
  static async open(port: number): Promise<{ dialogue: SmtpDialogue; greeting: string }> {
    const socket = connectPlain(port, "127.0.0.1");
    const dialogue = new SmtpDialogue(socket);
    return { dialogue, greeting: await dialogue.reply() };
  }

  /** Connects and reads past the greeting. */
  static async greeted(port: number): Promise<SmtpDialogue> {
    const { dialogue } = await SmtpDialogue.open(port);
    await dialogue.say("EHLO client.example");
    return dialogue;
  }

  #listen(): void {
    this.#socket.on("error", () => {});
    this.#socket.on("data", (chunk) => {
      this.#input += chunk.toString("latin1");
      this.#wake();
    });
    this.#socket.once("close", () => this.#wake());
  }

  get closed(): boolean {
    return this.#socket.closed;
  }

  /**
   * Waits without `once`, which would reject: a server that closes while lines are being sent resets the connection.
   */
  async untilClosed(): Promise<void> {
    if (this.#socket.closed) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("The SMTP server keeps the connection open")), ANSWER_MS);
      this.#socket.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** The next complete reply; empty if the connection ends instead. */
  async reply(): Promise<string> {
    for (;;) {
      const found = LAST_LINE.exec(this.#input);
      if (found) {
        const end = found.index + found[0].length;
        const reply = this.#input.slice(0, end);
        this.#input = this.#input.slice(end);
        return reply.trimEnd();
      }
      if (this.#socket.closed) return "";
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error("The SMTP server does not answer")), ANSWER_MS);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  write(text: string | Buffer): void {
    this.#socket.write(text);
  }

  /** Half-closes after an optional last line; replies still arrive. */
  end(text = ""): void {
    this.#socket.end(text);
  }

  say(line: string): Promise<string> {
    this.write(`${line}\r\n`);
    return this.reply();
  }

  /** Sends one message to these recipients. Returns the reply to its final dot, or to the refused command. */
  async send(recipients: readonly string[], message: string, from = ""): Promise<string> {
    for (const line of [`MAIL FROM:<${from}>`, ...recipients.map((to) => `RCPT TO:<${to}>`), "DATA"]) {
      const reply = await this.say(line);
      if (!/^[23]/.test(reply)) return reply;
    }
    return this.say(`${message.replaceAll(/^\./gm, "..")}\r\n.`);
  }

  async startTls(): Promise<void> {
    await this.say("STARTTLS");
    this.#socket.removeAllListeners("data");
    this.#socket = connectTls({ socket: this.#socket, rejectUnauthorized: false });
    await once(this.#socket, "secureConnect", { signal: AbortSignal.timeout(ANSWER_MS) });
    this.#listen();
  }

  close(): void {
    this.#socket.destroy();
  }
}
