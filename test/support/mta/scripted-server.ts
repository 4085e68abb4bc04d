/**
 * An in-memory SMTP server that gives any legal answer at any stage, in any chunks, and may close at any time. Records
 * accepted messages for comparison with the client's claims. Imitates odd servers: like Postfix it may keep a
 * transaction open after refusing the message, and like several it may answer DATA with 354 without any recipient.
 */
import { Duplex } from "node:stream";
import type { Random } from "./random.ts";

export interface Habits {
  pipelining: boolean;
  /** Keeps the transaction open after a refused message, so that the next MAIL is answered 503 (Postfix). */
  keepsTransaction: boolean;
  /** Answers RSET with 250 and ignores it. No real server should, but even then we must not send a blank mail. */
  ignoresReset: boolean;
  /** Answers 354 without any accepted recipient, as RFC 2920, section 3.1, allows. */
  asksForNothing: boolean;
  /** Probability that an answer is a refusal, and that the connection ends. */
  refusal: number;
  close: number;
}

export interface AcceptedMail {
  from: string;
  to: string[];
  text: string;
}

const REFUSALS = {
  MAIL: [
    "450 4.7.1 {} later",
    "451 {} wait",
    "452 4.3.1 {} full",
    "550 5.7.1 {} not you",
    "553 {} no",
    "530 5.7.0 {} STARTTLS first",
  ],
  RCPT: [
    "450 4.2.0 {} greylisted",
    "451 4.3.0 {} later",
    "452 4.5.3 {} too many",
    "550 5.1.1 {} unknown",
    "550 {} Administrative prohibition",
    "551 {} not here",
  ],
  DATA: ["451 4.3.0 {} not now", "452 {} full", "554 5.5.1 {} no valid recipients", "503 5.5.1 {} need RCPT"],
  DOT: [
    "451 4.7.1 {} try again",
    "452 4.3.1 {} full",
    "550 5.7.1 {} spam",
    "554 {} Transaction failed",
    "552 5.3.4 {} too large",
  ],
};

export class ScriptedServer {
  readonly accepted: AcceptedMail[] = [];
  /** Actions that a correct client never takes. */
  readonly violations: string[] = [];
  readonly transcript: string[] = [];
  readonly stream: Duplex;
  #random: Random;
  #habits: Habits;
  #input = "";
  #output = "";
  #flushing = false;
  #closing = false;
  #closed = false;
  #from: string | undefined;
  #to: string[] = [];
  #data: string | undefined;

  constructor(random: Random, habits: Habits) {
    this.#random = random;
    this.#habits = habits;
    const take = (text: string) => this.#take(text);
    this.stream = new Duplex({
      read: () => {},
      write(chunk: Buffer, _encoding, done) {
        done();
        take(chunk.toString("latin1"));
      },
    });
    this.stream.on("error", () => {});
  }

  #take(text: string): void {
    if (this.#closed || this.#closing) return;
    this.transcript.push(`C: ${text}`);
    if (!this.#habits.pipelining && this.#data === undefined && /\r\n./s.test(this.#input + text)) {
      this.violations.push(`Pipelined although not offered: ${text}`);
    }
    this.#input += text;
    while (!this.#closed && !this.#closing && this.#step()) {
      // One command or message at a time.
    }
  }

  /** Handles one command or one whole message; false if it needs more bytes. */
  #step(): boolean {
    if (this.#data !== undefined) {
      const end = this.#input.startsWith(".\r\n") ? 0 : this.#input.indexOf("\r\n.\r\n") + 2;
      if (end === 1) return false;
      this.#data = this.#input.slice(0, end);
      this.#input = this.#input.slice(end + 3);
      this.#send(this.#message());
      return true;
    }
    const end = this.#input.indexOf("\r\n");
    if (end < 0) return false;
    const line = this.#input.slice(0, end);
    this.#input = this.#input.slice(end + 2);
    this.#send(this.#command(line));
    return true;
  }

  /** The reply; undefined if the connection ends without one. */
  #command(line: string): string | undefined {
    const [, address = ""] = /<(.*?)>/.exec(line) ?? [];
    const verb = line.slice(0, 4).toUpperCase();
    if (verb !== "QUIT" && this.#random.chance(this.#habits.close)) return this.#closingReply(verb);
    const refuse = this.#random.chance(this.#habits.refusal);
    switch (verb) {
      case "MAIL":
        if (this.#from !== undefined) return "503 5.5.1 Error: nested MAIL command";
        if (refuse) return this.#refusal("MAIL", address);
        this.#from = address;
        return "250 2.1.0 Ok";
      case "RCPT":
        if (this.#from === undefined) return "503 5.5.1 Error: need MAIL command";
        if (refuse) return this.#refusal("RCPT", address);
        this.#to.push(address);
        return this.#random.pick(["250 2.1.5 Ok", "251 User not local; will forward"]);
      case "DATA":
        if (this.#from === undefined) return "503 5.5.1 Error: need RCPT command";
        if (this.#to.length === 0 && !this.#habits.asksForNothing) return "554 5.5.1 Error: no valid recipients";
        if (refuse && this.#to.length > 0) return this.#refusal("DATA", this.#from);
        this.#data = "";
        return "354 End data with <CR><LF>.<CR><LF>";
      case "RSET":
        if (!this.#habits.ignoresReset) this.#reset();
        return "250 2.0.0 Ok";
      case "QUIT":
        this.#closing = true;
        return "221 2.0.0 Bye";
      default:
        this.violations.push(`No command: ${line}`);
        return "500 5.5.2 Error: command not recognized";
    }
  }

  #message(): string | undefined {
    const mail = { from: this.#from!, to: this.#to, text: this.#data! };
    this.#data = undefined;
    const nobody = mail.to.length === 0;
    if (this.#random.chance(this.#habits.close)) {
      const reply = this.#closingReply("the message");
      // Without an answer the client cannot know whether the mail was filed; 421 says that it was not.
      if (!reply && !nobody && this.#random.chance(0.5)) this.accepted.push(mail);
      return reply;
    }
    if (nobody || this.#random.chance(this.#habits.refusal)) {
      if (!this.#habits.keepsTransaction) this.#reset();
      return nobody ? "554 5.5.1 Error: no valid recipients" : this.#refusal("DOT", mail.from);
    }
    this.#reset();
    this.accepted.push(mail);
    return "250 2.0.0 Ok: queued";
  }

  #reset(): void {
    this.#from = undefined;
    this.#to = [];
  }

  #refusal(stage: keyof typeof REFUSALS, address: string): string {
    return this.#random.pick(REFUSALS[stage]).replace("{}", `<${address}>`);
  }

  /** Ends the connection now, with 421 or silently. */
  #closingReply(at: string): string | undefined {
    this.#closing = true;
    return this.#random.chance(0.5) ? `421 4.7.0 Closing (at ${at})` : undefined;
  }

  #send(text: string | undefined): void {
    if (text) {
      const [, code, rest] = /^(\d{3}) (.*)$/.exec(text)!;
      const lines = this.#random.chance(0.2) ? `${code}-${rest}\r\n${code} and more\r\n` : `${text}\r\n`;
      this.transcript.push(`S: ${lines}`);
      this.#output += lines;
    }
    this.#flush();
  }

  /** Sends the output in chunks of random size, each in its own event-loop turn. */
  #flush(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      const whole = this.#random.chance(0.5);
      const piece = this.#output.slice(0, whole ? undefined : 1 + this.#random.below(40));
      this.#output = this.#output.slice(piece.length);
      if (this.stream.destroyed) return;
      if (piece) this.stream.push(Buffer.from(piece, "latin1"));
      if (this.#output) this.#flush();
      else if (this.#closing) this.#end();
    });
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.transcript.push("S: closes");
    if (this.#random.chance(0.5)) this.stream.push(null);
    else this.stream.destroy(new Error("read ECONNRESET"));
  }
}
