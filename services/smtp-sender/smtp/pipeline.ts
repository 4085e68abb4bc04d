/**
 * The mail transactions of one open session, pipelined across messages where the server allows it (RFC 2920 section
 * 3.1): the body of one message, its final dot, and MAIL, RCPT, DATA of the next go out in one write, so that a message
 * costs one round trip. Without PIPELINING every command waits for the reply to the one before.
 *
 * Replies belong to commands by their order and by nothing else, so anything that cannot be a reply ends the session.
 * However it ends, a message whose final dot was written and not answered is in doubt; any other was certainly not
 * accepted.
 *
 * At most one body is unanswered, and at most one envelope is open behind it. RSET stands before that envelope: a server
 * may keep the transaction open after it has refused a message (Postfix with smtpd_end_of_data_restrictions), answer the
 * next MAIL with 503 and add the next RCPT to the old transaction.
 */
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { BodyWriter } from "./body.ts";
import {
  type Command,
  dataReply,
  envelope,
  isOutOfSequence,
  noteEnvelopeReply,
  refusedResult,
  type Stage,
  type Transaction,
} from "./envelope.ts";
import { type MessageSource, messageError, type OutgoingMessage, type TransactionResult } from "./message.ts";
import { NotSmtp, type Reply, ReplyReader } from "./replies.ts";
import { readSession, type Session } from "./session.ts";
import { Deadline, RFC_TIMEOUTS, type StageTimeouts } from "./timeouts.ts";

/** As error texts name the stages. */
const COMMAND_NAME: Record<Stage, string> = {
  rset: "RSET",
  mail: "MAIL",
  rcpt: "RCPT",
  data: "DATA",
  endOfData: "DOT",
  emptyData: "DOT",
  quit: "QUIT",
};

export class SmtpPipeline<L extends OutgoingMessage> {
  readonly session: Session;
  #socket: Socket;
  #source: MessageSource<L>;
  #timeouts: StageTimeouts;
  #reader = new ReplyReader();
  /** Commands that were written and not answered, in order. */
  #unanswered: Command<L>[] = [];
  /** Without PIPELINING: commands not written yet. */
  #queued: Command<L>[] = [];
  /** Its envelope is under way; its body has not been written. */
  #open: Transaction<L> | undefined;
  #body: BodyWriter;
  #resetFirst = false;
  #ending = false;
  #ended = false;
  #reporting = false;
  #deadline: Deadline;
  /** When it last had nothing to do; undefined while it is busy. */
  idleSince: number | undefined = performance.now();
  handled = 0;

  constructor(session: Session, source: MessageSource<L>, timeouts: StageTimeouts = RFC_TIMEOUTS) {
    this.session = session;
    this.#socket = session.socket;
    this.#source = source;
    this.#timeouts = timeouts;
    this.#deadline = new Deadline(Math.min(...Object.values(timeouts)), () => {
      const stage = this.#unanswered[0]?.stage;
      this.#end(`No answer to ${stage ? COMMAND_NAME[stage] : "the message"} within the time-out`);
    });
    this.#body = new BodyWriter(this.#socket, () => this.#extend("block"));
    readSession(session, (text) => this.#onData(text));
    this.#socket.on("error", (error) => this.#end(`The connection broke: ${error.message}`));
    this.#socket.on("end", () => this.#end("The server closed the connection"));
    this.#socket.on("close", () => this.#end("The connection was closed"));
  }

  /** The server has a reply to give. */
  get waiting(): boolean {
    return this.#unanswered.length > 0 || this.#open !== undefined;
  }

  /** There may be something to send now. */
  wake(): void {
    if (this.#reporting) return;
    if (!this.#open && !this.#ending && !this.#ended && (this.session.pipelining || this.#unanswered.length === 0)) {
      this.#write(this.#beginNext());
    }
  }

  /** Begins nothing more; says QUIT once all is answered. */
  quit(): void {
    this.#ending = true;
    if (this.#unanswered.length === 0 && !this.#open) this.#sayGoodbye();
  }

  /** Ends the session now, whatever is under way. */
  abort(reason: string): void {
    this.#end(reason);
  }

  #sayGoodbye(): void {
    if (this.#ended) return;
    this.#unanswered.push({ stage: "quit", text: "", transaction: undefined });
    this.#socket.end("QUIT\r\n");
    this.#extend("quit");
  }

  /** The commands that open the next transaction; none when there is nothing to send. */
  #beginNext(): Command<L>[] {
    if (this.#ending) return [];
    let message = this.#source.next();
    for (let error = message && messageError(message, this.session); message && error; ) {
      this.#report(message, { kind: "impossible", reason: error });
      message = this.#source.next();
      error = message && messageError(message, this.session);
    }
    if (!message) return [];
    const transaction: Transaction<L> = { message, accepted: 0, refused: [], failure: undefined };
    this.#open = transaction;
    const behindMessage = this.#unanswered.some(({ stage }) => stage === "endOfData" || stage === "emptyData");
    const commands = envelope(transaction, this.session, this.#resetFirst || behindMessage);
    this.#resetFirst = false;
    return commands;
  }

  /** Writes the commands behind `before` or a message, in one write. Without PIPELINING only the first of them. */
  #write(commands: Command<L>[], body: OutgoingMessage["body"] = [], before = ""): void {
    let text = before;
    if (this.session.pipelining) {
      for (const command of commands) {
        text += command.text;
        this.#unanswered.push(command);
      }
    } else {
      this.#queued.push(...commands);
      const first = this.#unanswered.length === 0 ? this.#queued.shift() : undefined;
      if (first) {
        text += first.text;
        this.#unanswered.push(first);
      }
    }
    if (text || body.length > 0) this.#body.write(body, text);
    this.#updateDeadline();
  }

  /** After each step: which reply is due next, and by when. */
  #updateDeadline(): void {
    const [head] = this.#unanswered;
    if (head) {
      this.idleSince = undefined;
      this.#extend(head.stage === "endOfData" && this.#body.busy ? "block" : head.stage);
    } else if (this.#ending && !this.#open) {
      this.#sayGoodbye();
    } else if (!this.#open) {
      this.idleSince ??= performance.now();
      this.#deadline.unset();
    }
  }

  #extend(stage: Stage | "block"): void {
    if (!this.#ended) this.#deadline.set(this.#timeouts[stage]);
  }

  readonly #takeReply = (reply: Reply): void => {
    if (!this.#ended) this.#onReply(reply);
  };

  #onData(text: string): void {
    if (this.#ended) return;
    try {
      this.#reader.push(text, this.#takeReply);
      // Once for all replies that came together.
      if (!this.#ended) this.#updateDeadline();
    } catch (error) {
      if (!(error instanceof NotSmtp)) throw error;
      this.#end(error.message);
    }
  }

  #onReply(reply: Reply): void {
    const command = this.#unanswered.shift();
    if (reply.code === 421) {
      this.#closing(reply, command);
      return;
    }
    if (!command) throw new NotSmtp(`The server spoke without being asked: ${reply.text}`);
    // Bytes beyond the last reply that was due: one of those before was not a reply, and nobody can say which.
    if (this.#unanswered.length === 0 && this.#reader.midway && command.stage !== "quit") {
      this.#unanswered.unshift(command);
      throw new NotSmtp(`The server gave more answers than it was asked for: ${reply.text}`);
    }
    if (isOutOfSequence(command, reply)) {
      this.#end(`The session is out of step: ${reply.text}`, reply);
      return;
    }
    switch (command.stage) {
      case "mail":
      case "rcpt":
        noteEnvelopeReply(command, reply);
        break;
      case "data":
        this.#dataAnswered(command, reply);
        return;
      case "endOfData":
        this.#endOfData(command, reply);
        break;
      case "rset":
        if (reply.code >= 300) throw new NotSmtp(`The server refused RSET: ${reply.text}`);
        break;
      case "quit":
        this.#end("QUIT");
        return;
    }
    if (!this.session.pipelining) this.#lockStep();
    else if (this.#unanswered.length === 0 && !this.#open) this.wake();
  }

  #dataAnswered({ transaction }: Command<L>, reply: Reply): void {
    const open = transaction!;
    const { expectsMessage, hasRecipients, failure } = dataReply(open, reply);
    if (!expectsMessage) {
      this.#open = undefined;
      this.#resetFirst = true;
      this.#report(open.message, refusedResult(open, failure));
      this.#write(this.#beginNext());
    } else if (hasRecipients) {
      this.#writeBody(open);
    } else if (open.accepted > 0) {
      // MAIL was refused and RCPT accepted: whatever is written now, an empty message too, would reach somebody.
      this.#open = undefined;
      this.#report(open.message, refusedResult(open, failure));
      this.#end(`The server accepted recipients of a message whose sender it had refused: ${failure.reply.text}`);
    } else {
      // The server waits for a message that nobody would get: an empty one ends the transaction (RFC 2920 section 3.1).
      this.#open = undefined;
      this.#unanswered.push({ stage: "emptyData", text: "", transaction: undefined });
      this.#report(open.message, refusedResult(open, open.failure!));
      this.#write(this.#beginNext(), [], ".\r\n");
    }
  }

  #writeBody(transaction: Transaction<L>): void {
    if (!this.#source.mayStillSend(transaction.message)) {
      this.#end("The lease on this message ran out");
      return;
    }
    this.#open = undefined;
    this.#unanswered.push({ stage: "endOfData", text: "", transaction });
    this.#write(this.session.pipelining ? this.#beginNext() : [], transaction.message.body);
  }

  #endOfData({ transaction }: Command<L>, reply: Reply): void {
    // A message whose end has not been written cannot have been accepted.
    const early = reply.code < 300 && !this.#body.dotWritten;
    if (early || (reply.code >= 300 && reply.code < 400)) {
      this.#unanswered.unshift({ stage: "endOfData", text: "", transaction });
      throw new NotSmtp(`No answer to the message: ${reply.text}`);
    }
    const { message, refused } = transaction!;
    this.handled++;
    if (reply.code < 300) {
      this.#report(message, { kind: "accepted", reply, refused });
      return;
    }
    if (!this.#unanswered.some(({ stage }) => stage === "rset")) this.#resetFirst = true;
    this.#report(message, refusedResult(transaction!, { stage: "endOfData", reply }));
  }

  /** Without PIPELINING: continues the open transaction, or gives it up and begins the next one. */
  #lockStep(): void {
    const open = this.#open;
    if (open) {
      const rcptLeft = this.#queued.some(({ stage }) => stage === "rcpt");
      if (open.failure?.stage === "mail" || (open.failure && open.accepted === 0 && !rcptLeft)) {
        this.#queued = [];
        this.#open = undefined;
        this.#resetFirst = true;
        this.#report(open.message, refusedResult(open, open.failure));
      }
    }
    this.#write(this.#open ? [] : this.#beginNext());
  }

  /** Whoever is notified may wake all connections, this one too. It begins the next message itself, once, after that. */
  #report(message: L, result: TransactionResult): void {
    this.#reporting = true;
    this.#source.answered(message, result);
    this.#reporting = false;
  }

  /** 421 may come at any time: the server is about to close and answers none of the commands still unanswered. */
  #closing(reply: Reply, command: Command<L> | undefined): void {
    if (command?.stage === "endOfData") {
      // It is the reply to this message, and a refusal.
      this.#report(command.transaction!.message, { kind: "unsent", reason: reply.text, reply });
    }
    this.#end(`The server is closing the connection: ${reply.text}`, reply);
  }

  #end(reason: string, reply?: Reply): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deadline.clear();
    this.#socket.destroy();
    for (const { stage, transaction } of this.#unanswered) {
      if (stage !== "endOfData") continue;
      const result: TransactionResult = this.#body.dotWritten
        ? { kind: "doubt", reason }
        : { kind: "unsent", reason, reply };
      this.#report(transaction!.message, result);
    }
    if (this.#open) this.#report(this.#open.message, { kind: "unsent", reason, reply });
    const byUs = this.#unanswered[0]?.stage === "quit";
    this.#unanswered = [];
    this.#queued = [];
    this.#open = undefined;
    this.#source.closed(byUs ? "QUIT" : reason, reply);
  }
}
