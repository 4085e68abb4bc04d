/**
 * The mail transactions of one open session, pipelined across messages where the server allows it (RFC 2920 section
 * 3.1): the body of one message, its final dot, and MAIL, RCPT, DATA of the next go out in one write, so that a message
 * costs one round trip. Without PIPELINING every command waits for the answer to the one before.
 *
 * Replies belong to commands by order and by nothing else, so what cannot be an answer ends the session. When it ends,
 * however it ends, a message whose dot was written and not answered is in doubt; any other was certainly not accepted.
 *
 * At most one body is unanswered, and at most one envelope is open behind it.
 */
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { BodyWriter } from "./body.ts";
import { Deadline } from "./deadline.ts";
import { type Command, envelope, judgeData, noteAnswer, type Stage, type Transaction } from "./envelope.ts";
import { type MessageSource, messageError, type OutgoingMessage, type TransactionResult } from "./message.ts";
import { NotSmtp, type Reply, ReplyReader } from "./replies.ts";
import type { Session } from "./session.ts";
import { RFC_TIMEOUTS, type StageTimeouts } from "./timeouts.ts";

export class SmtpPipeline<L extends OutgoingMessage> {
  readonly session: Session;
  #socket: Socket;
  #post: MessageSource<L>;
  #timeouts: StageTimeouts;
  #reader = new ReplyReader();
  /** Written and not answered, in order. */
  #owed: Command<L>[] = [];
  /** Lock-step: not written yet. */
  #queued: Command<L>[] = [];
  /** Its envelope is being told; its body has not been written. */
  #open: Transaction<L> | undefined;
  #body: BodyWriter;
  #resetFirst = false;
  #ending = false;
  #over = false;
  #deadline: Deadline;
  /** When it last had nothing to do; undefined while it is busy. */
  idleSince: number | undefined = performance.now();
  handled = 0;

  constructor(session: Session, post: MessageSource<L>, timeouts: StageTimeouts = RFC_TIMEOUTS) {
    this.session = session;
    this.#socket = session.socket;
    this.#post = post;
    this.#timeouts = timeouts;
    this.#deadline = new Deadline(Math.min(...Object.values(timeouts)), () => {
      this.#end(`No answer to ${this.#owed[0]?.stage.toUpperCase() ?? "the message"} within the time-out`);
    });
    this.#body = new BodyWriter(this.#socket, () => this.#extend("block"));
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#socket.on("error", (error) => this.#end(`The connection broke: ${error.message}`));
    this.#socket.on("end", () => this.#end("The server closed the connection"));
    this.#socket.on("close", () => this.#end("The connection was closed"));
  }

  /** An answer is owed. */
  get waiting(): boolean {
    return this.#owed.length > 0 || this.#open !== undefined;
  }

  /** Something to send may be there now. */
  wake(): void {
    if (!this.#open && !this.#ending && !this.#over && (this.session.pipelining || this.#owed.length === 0)) {
      this.#write(this.#begin());
    }
  }

  /** Begins nothing more; QUIT once all is answered. */
  quit(): void {
    this.#ending = true;
    if (this.#owed.length === 0 && !this.#open) this.#sayGoodbye();
  }

  /** Ends it now, whatever is under way. */
  abort(reason: string): void {
    this.#end(reason);
  }

  #sayGoodbye(): void {
    if (this.#over) return;
    this.#owed.push({ stage: "quit", text: "", transaction: undefined });
    this.#socket.end("QUIT\r\n");
    this.#extend("quit");
  }

  /** The commands that open the next transaction; none when there is nothing to send. */
  #begin(): Command<L>[] {
    if (this.#ending) return [];
    let letter = this.#post.next();
    for (let fault = letter && messageError(letter, this.session); letter && fault; ) {
      this.#post.answered(letter, { kind: "impossible", reason: fault });
      letter = this.#post.next();
      fault = letter && messageError(letter, this.session);
    }
    if (!letter) return [];
    const transaction: Transaction<L> = { letter, accepted: 0, refused: [], failure: undefined };
    this.#open = transaction;
    const commands = envelope(transaction, this.session, this.#resetFirst);
    this.#resetFirst = false;
    return commands;
  }

  /** Puts the commands on the wire, in one write behind `before` or a message; lock-step only the first. */
  #write(commands: Command<L>[], body: readonly string[] = [], before = ""): void {
    let text = before;
    if (this.session.pipelining) {
      for (const command of commands) {
        text += command.text;
        this.#owed.push(command);
      }
    } else {
      this.#queued.push(...commands);
      const first = this.#owed.length === 0 ? this.#queued.shift() : undefined;
      if (first) {
        text += first.text;
        this.#owed.push(first);
      }
    }
    if (text || body.length > 0) this.#body.write(body, text);
    this.#rest();
  }

  /** After each step: what is waited for now, and for how long. */
  #rest(): void {
    const [head] = this.#owed;
    if (head) {
      this.idleSince = undefined;
      this.#extend(head.stage === "dot" && this.#body.busy ? "block" : head.stage);
    } else if (this.#ending && !this.#open) {
      this.#sayGoodbye();
    } else if (!this.#open) {
      this.idleSince ??= performance.now();
      this.#deadline.none();
    }
  }

  #extend(stage: Stage | "block"): void {
    if (!this.#over) this.#deadline.in(this.#timeouts[stage]);
  }

  #read(chunk: Buffer): void {
    if (this.#over) return;
    try {
      this.#reader.push(chunk.toString("latin1"), (reply) => {
        if (!this.#over) this.#take(reply);
      });
    } catch (error) {
      if (!(error instanceof NotSmtp)) throw error;
      this.#end(error.message);
    }
  }

  #take(reply: Reply): void {
    const command = this.#owed.shift();
    if (reply.code === 421) {
      this.#closing(reply, command);
      return;
    }
    if (!command) throw new NotSmtp(`The server spoke without being asked: ${reply.text}`);
    // Bytes beyond the last owed answer: one of the answers before was none, and nobody can say which.
    if (this.#owed.length === 0 && this.#reader.midway && command.stage !== "quit") {
      this.#owed.unshift(command);
      throw new NotSmtp(`The server gave more answers than it was asked for: ${reply.text}`);
    }
    switch (command.stage) {
      case "mail":
      case "rcpt":
        noteAnswer(command, reply);
        break;
      case "data":
        this.#data(command, reply);
        return;
      case "dot":
        this.#answered(command, reply);
        break;
      case "rset":
        if (reply.code >= 300) throw new NotSmtp(`The server refused RSET: ${reply.text}`);
        break;
      case "quit":
        this.#end("QUIT");
        return;
    }
    if (this.session.pipelining) {
      if (this.#owed.length === 0 && !this.#open) this.wake();
      this.#rest();
    } else {
      this.#lockStep();
    }
  }

  #data({ transaction }: Command<L>, reply: Reply): void {
    const open = transaction!;
    const { goes, wanted, failure } = judgeData(open, reply);
    if (!goes) {
      this.#open = undefined;
      this.#resetFirst = true;
      this.#tell(open.letter, { kind: "refused", ...failure });
      this.#write(this.#begin());
    } else if (wanted) {
      this.#handOver(open);
    } else {
      // Data was asked for although nobody will get it: an empty message ends it (RFC 2920 section 3.1).
      this.#open = undefined;
      this.#owed.push({ stage: "nothing", text: "", transaction: undefined });
      this.#tell(open.letter, { kind: "refused", ...open.failure! });
      this.#write(this.#begin(), [], ".\r\n");
    }
  }

  #handOver(transaction: Transaction<L>): void {
    if (!this.#post.stillOurs(transaction.letter)) {
      this.#end("The lease on this message ran out");
      return;
    }
    this.#open = undefined;
    this.#owed.push({ stage: "dot", text: "", transaction });
    this.#write(this.session.pipelining ? this.#begin() : [], transaction.letter.body);
  }

  #answered({ transaction }: Command<L>, reply: Reply): void {
    // Nobody can have accepted a message whose end has not been written.
    const early = reply.code < 300 && !this.#body.dotWritten;
    if (early || (reply.code >= 300 && reply.code < 400)) {
      this.#owed.unshift({ stage: "dot", text: "", transaction });
      throw new NotSmtp(`No answer to the message: ${reply.text}`);
    }
    const { letter, refused } = transaction!;
    this.handled++;
    if (reply.code < 300) this.#tell(letter, { kind: "accepted", reply, refused });
    else this.#tell(letter, { kind: "refused", stage: "dot", reply });
  }

  /** Without PIPELINING: goes on with the open transaction, or gives it up and begins the next one. */
  #lockStep(): void {
    const open = this.#open;
    if (open) {
      const rcptLeft = this.#queued.some(({ stage }) => stage === "rcpt");
      if (open.failure?.stage === "mail" || (open.failure && open.accepted === 0 && !rcptLeft)) {
        this.#queued = [];
        this.#open = undefined;
        this.#resetFirst = true;
        this.#tell(open.letter, { kind: "refused", ...open.failure });
      }
    }
    this.#write(this.#open ? [] : this.#begin());
  }

  #tell(letter: L, verdict: TransactionResult): void {
    this.#post.answered(letter, verdict);
  }

  /** 421 may come at any time: the server is about to close, and answers nothing of what it was still asked. */
  #closing(reply: Reply, command: Command<L> | undefined): void {
    if (command?.stage === "dot") {
      // An answer, and a refusal: this message was not accepted.
      this.#tell(command.transaction!.letter, { kind: "unsent", reason: reply.text, reply });
    }
    this.#end(`The server is closing the connection: ${reply.text}`, reply);
  }

  #end(reason: string, reply?: Reply): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadline.clear();
    this.#socket.destroy();
    for (const { stage, transaction } of this.#owed) {
      if (stage !== "dot") continue;
      const verdict: TransactionResult = this.#body.dotWritten
        ? { kind: "doubt", reason }
        : { kind: "unsent", reason, reply };
      this.#tell(transaction!.letter, verdict);
    }
    if (this.#open) this.#tell(this.#open.letter, { kind: "unsent", reason, reply });
    const wanted = this.#owed[0]?.stage === "quit";
    this.#owed = [];
    this.#queued = [];
    this.#open = undefined;
    this.#post.closed(wanted ? "QUIT" : reason, reply);
  }
}
