/**
 * One open session with an SMTP server. `send` writes a mail and resolves with the server's answer. Where the server
 * offers PIPELINING, a second mail may be begun while the first one is unanswered: the body of one message, its final
 * dot, and MAIL, RCPT, DATA of the next go out in one write (RFC 2920 section 3.1), so that a message costs one round
 * trip. Without PIPELINING every command waits for the reply to the one before.
 *
 * Replies belong to commands by their order and by nothing else, so anything that cannot be a reply ends the session.
 * However it ends, a message whose final dot was written and not answered is in doubt; any other was certainly not
 * accepted.
 *
 * At most one body is unanswered, and at most one envelope is open behind it. RSET stands before that envelope: a server
 * may keep the transaction open after it has refused a message (Postfix with smtpd_end_of_data_restrictions), answer the
 * next MAIL with 503 and add the next RCPT to the old transaction.
 *
 * An envelope is written behind a message only while the server is quick to accept messages: an envelope that was written
 * cannot be withdrawn, and a slow server would begin that mail long after its campaign was stopped. Where a quick server
 * turns slow, a mail that may not go any more is withdrawn at its 354, by ending the session.
 */
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { BodyWriter } from "./body.ts";
import { NotSmtp, type Reply, ReplyReader } from "./replies.ts";
import { readSession, type Session } from "./session.ts";
import { Deadline, RFC_TIMEOUTS, type StageTimeouts } from "./timeouts.ts";
import {
  type Command,
  dataReply,
  envelope,
  isOutOfSequence,
  messageError,
  noteEnvelopeReply,
  type OutgoingMessage,
  refusedResult,
  type Stage,
  type Transaction,
  type TransactionResult,
} from "./transaction.ts";

/** As error texts name the stages. */
const COMMAND_NAME: Record<Stage, string> = {
  rset: "RSET",
  mail: "MAIL",
  rcpt: "RCPT",
  data: "DATA",
  endOfData: "DOT",
  emptyData: "DOT",
  noop: "NOOP",
  quit: "QUIT",
};

/** A server that takes longer to accept a message gets the next envelope only after its answer. */
const QUICK_ANSWER_MS = 1_000;

/** A firewall may have forgotten a connection that was idle for longer. */
const ASKED_AFTER_IDLE_MS = 2_000;

/** Why a session is over; `reply`: the 421, where there was one. */
export interface SessionEnd {
  reason: string;
  reply: Reply | undefined;
}

export class Connection {
  readonly session: Session;
  readonly openedAtMs = performance.now();
  /** Resolves behind the answers to all mails. The reason is "QUIT" where it ended in order, or did not outlive being idle. */
  readonly ended: Promise<SessionEnd>;
  /** Mails it was given. */
  tried = 0;
  accepted = 0;
  /** Messages that were written whole, and answered. */
  handled = 0;
  /** Refused since the last one with another answer. */
  refusedInARow = 0;
  /** Since when it waits for an answer to something; undefined while idle. */
  busySince: number | undefined;
  /** When it last had nothing to do; undefined while it is busy. */
  idleSince: number | undefined = performance.now();
  /** When the server last answered while the connection was idle. */
  #heardAtMs = 0;
  #socket: Socket;
  #timeouts: StageTimeouts;
  #reader = new ReplyReader();
  /** Commands that were written and not answered, in order. */
  #unanswered: Command[] = [];
  /** Without PIPELINING: commands not written yet. */
  #queued: Command[] = [];
  /** Its envelope is under way, and its DATA not answered. */
  #open: Transaction | undefined;
  /** The server waits for its body, which is written in the next microtask: with the envelope of the next one, if there is one. */
  #due: Transaction | undefined;
  /** The envelope that is written behind that body. */
  #behind: Command[] = [];
  #body: BodyWriter;
  #resetFirst = false;
  #isQuick = false;
  #bodyWrittenAtMs = 0;
  #ending = false;
  #end: SessionEnd | undefined;
  #resolveEnded!: (end: SessionEnd) => void;
  #waiting: (() => void)[] = [];
  #deadline: Deadline;

  constructor(session: Session, timeouts: StageTimeouts = RFC_TIMEOUTS) {
    this.session = session;
    this.#socket = session.socket;
    this.#timeouts = timeouts;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#deadline = new Deadline(Math.min(...Object.values(timeouts)), () => {
      const stage = this.#unanswered[0]?.stage;
      this.#finish(`No answer to ${stage ? COMMAND_NAME[stage] : "the message"} within the time-out`);
    });
    this.#body = new BodyWriter(this.#socket, () => this.#extend("block"));
    readSession(session, (text) => this.#onData(text));
    this.#socket.on("error", (error) => this.#finish(`The connection broke: ${error.message}`));
    this.#socket.on("end", () => this.#finish("The server closed the connection"));
    this.#socket.on("close", () => this.#finish("The connection was closed"));
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** Mails that may be under way at a time. */
  get maxUnderWay(): number {
    return this.session.pipelining ? 2 : 1;
  }

  /** The next mail may be sent now. */
  get mayBegin(): boolean {
    if (this.#open || this.#ending || this.#end || this.#isAsked || this.isStale) return false;
    return this.session.pipelining ? this.#isQuick || !this.#isBehindMessage : !this.#isUnderWay;
  }

  /** It has been idle for so long that the server is asked first (`ask`). */
  get isStale(): boolean {
    const { idleSince } = this;
    return idleSince !== undefined && performance.now() - Math.max(idleSince, this.#heardAtMs) > ASKED_AFTER_IDLE_MS;
  }

  get #isAsked(): boolean {
    return this.#unanswered[0]?.stage === "noop";
  }

  /** A message is on its way, and its answer has not come. */
  get #isBehindMessage(): boolean {
    return this.#due !== undefined || this.#unanswered.some(({ stage }) => stage === "endOfData");
  }

  /** The server has a reply to give, or waits for a body. */
  get #isUnderWay(): boolean {
    return this.#unanswered.length > 0 || this.#open !== undefined || this.#due !== undefined;
  }

  /** Resolves when there may be something to send: it was woken, may begin a mail again, or is over. */
  wait(): Promise<void> {
    return this.#end ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets one of those that wait look for a mail. */
  wake(): void {
    if (this.mayBegin) this.#waiting.shift()?.();
  }

  /** Asks the server of a stale connection whether it is there. It may begin mails again with the answer, or is over. */
  ask(): void {
    if (this.#end || this.#ending || this.#isUnderWay || !this.isStale) return;
    this.#write([{ stage: "noop", text: "NOOP\r\n", transaction: undefined }]);
  }

  /** Only while `mayBegin`. */
  send(message: OutgoingMessage): Promise<TransactionResult> {
    this.tried++;
    const error = messageError(message, this.session);
    if (error) return Promise.resolve({ kind: "impossible", reason: error });
    this.busySince ??= performance.now();
    return new Promise((answer) => {
      const transaction: Transaction = { message, accepted: 0, refused: [], failure: undefined, answer };
      this.#open = transaction;
      const behindMessage =
        this.#due !== undefined || this.#unanswered.some(({ stage }) => stage === "endOfData" || stage === "emptyData");
      const commands = envelope(transaction, this.session, this.#resetFirst || behindMessage);
      this.#resetFirst = false;
      if (this.#due) this.#behind = commands;
      else this.#write(commands);
    });
  }

  /** Begins nothing more; says QUIT once all is answered. */
  quit(): void {
    this.#ending = true;
    if (!this.#isUnderWay) this.#sayGoodbye();
  }

  /** Ends the session now, whatever is under way. */
  abort(reason: string): void {
    this.#finish(reason);
  }

  #sayGoodbye(): void {
    if (this.#end || this.#unanswered.length > 0) return;
    this.#unanswered.push({ stage: "quit", text: "", transaction: undefined });
    this.#socket.end("QUIT\r\n");
    this.#extend("quit");
  }

  /** Writes the commands behind a message, in one write. Without PIPELINING only the first of them. */
  #write(commands: Command[], body: OutgoingMessage["body"] = []): void {
    let text = "";
    if (this.session.pipelining) {
      for (const command of commands) {
        text += command.text;
        this.#unanswered.push(command);
      }
    } else {
      this.#queued.push(...commands);
      const first = this.#unanswered.length === 0 ? this.#queued.shift() : undefined;
      if (first) {
        text = first.text;
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
      if (head.stage !== "noop") this.idleSince = undefined;
      this.#extend(head.stage === "endOfData" && this.#body.busy ? "block" : head.stage);
    } else if (this.#isUnderWay) {
      // Its body is written in a moment.
    } else if (this.#ending) {
      this.#sayGoodbye();
    } else {
      this.idleSince ??= performance.now();
      this.#deadline.unset();
    }
  }

  #extend(stage: Stage | "block"): void {
    if (!this.#end) this.#deadline.set(this.#timeouts[stage]);
  }

  readonly #takeReply = (reply: Reply): void => {
    if (!this.#end) this.#onReply(reply);
  };

  #onData(text: string): void {
    if (this.#end) return;
    try {
      this.#reader.push(text, this.#takeReply);
      // Once for all replies that came together.
      if (this.isOpen) this.#updateDeadline();
    } catch (error) {
      if (!(error instanceof NotSmtp)) throw error;
      this.#finish(error.message);
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
      this.#finish(`The session is out of step: ${reply.text}`, reply);
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
      case "noop":
        // Any answer will do: the server is there.
        this.#heardAtMs = performance.now();
        this.wake();
        break;
      case "quit":
        this.#finish("QUIT");
        return;
    }
    if (!this.session.pipelining) this.#lockStep();
  }

  #dataAnswered({ transaction }: Command, reply: Reply): void {
    const open = transaction!;
    const { expectsMessage, hasRecipients, failure } = dataReply(open, reply);
    if (expectsMessage && hasRecipients) {
      void this.#bodyIsDue(open);
      return;
    }
    this.#open = undefined;
    if (!expectsMessage) {
      this.#resetFirst = true;
      this.#answer(open, refusedResult(open, failure));
    } else if (open.accepted > 0) {
      // MAIL was refused and RCPT accepted: whatever is written now, an empty message too, would reach somebody.
      this.#answer(open, refusedResult(open, failure));
      this.#finish(`The server accepted recipients of a message whose sender it had refused: ${failure.reply.text}`);
    } else {
      // The server waits for a message that nobody would get: an empty one ends the transaction (RFC 2920 section 3.1).
      this.#unanswered.push({ stage: "emptyData", text: "", transaction: undefined });
      this.#answer(open, refusedResult(open, open.failure!));
      this.#body.write([], ".\r\n");
    }
  }

  /** The body is written a microtask later: a connection that waits takes the next mail first, so that its envelope goes out with it. */
  async #bodyIsDue(transaction: Transaction): Promise<void> {
    if (transaction.message.isWithdrawn?.()) {
      this.#withdraw(transaction);
      return;
    }
    if (transaction.message.mayStillSend?.() === false) {
      this.#finish("The lease on this message ran out");
      return;
    }
    this.#open = undefined;
    this.#due = transaction;
    this.wake();
    await undefined;
    // The session may be over.
    if (this.#due !== transaction) return;
    this.#due = undefined;
    this.#unanswered.push({ stage: "endOfData", text: "", transaction });
    this.#bodyWrittenAtMs = performance.now();
    this.#write(this.#behind, transaction.message.body);
    this.#behind = [];
  }

  /** The server waits for the message: only the end of the session keeps it from delivering an empty one. */
  #withdraw(transaction: Transaction): void {
    this.#open = undefined;
    this.#answer(transaction, { kind: "unsent", reason: "The message was withdrawn", withdrawn: true });
    this.#finish("QUIT");
  }

  #endOfData({ transaction }: Command, reply: Reply): void {
    // A message whose end has not been written cannot have been accepted.
    const early = reply.code < 300 && !this.#body.dotWritten;
    if (early || (reply.code >= 300 && reply.code < 400)) {
      this.#unanswered.unshift({ stage: "endOfData", text: "", transaction });
      throw new NotSmtp(`No answer to the message: ${reply.text}`);
    }
    this.handled++;
    this.#isQuick = performance.now() - this.#bodyWrittenAtMs < QUICK_ANSWER_MS;
    if (reply.code < 300) {
      this.#answer(transaction!, { kind: "accepted", reply, refused: transaction!.refused });
      return;
    }
    if (!this.#unanswered.some(({ stage }) => stage === "rset")) this.#resetFirst = true;
    this.#answer(transaction!, refusedResult(transaction!, { stage: "endOfData", reply }));
  }

  /** Without PIPELINING: continues the open transaction, or gives it up. */
  #lockStep(): void {
    const open = this.#open;
    if (!open) {
      this.wake();
      return;
    }
    const rcptLeft = this.#queued.some(({ stage }) => stage === "rcpt");
    if (open.failure?.stage === "mail" || (open.failure && open.accepted === 0 && !rcptLeft)) {
      this.#queued = [];
      this.#open = undefined;
      this.#resetFirst = true;
      this.#answer(open, refusedResult(open, open.failure));
    } else {
      this.#write([]);
    }
  }

  #answer({ answer }: Transaction, result: TransactionResult): void {
    if (result.kind === "accepted") this.accepted++;
    this.refusedInARow = result.kind === "refused" ? this.refusedInARow + 1 : 0;
    this.busySince = this.#isUnderWay ? performance.now() : undefined;
    answer(result);
  }

  /** 421 may come at any time: the server is about to close and answers none of the commands still unanswered. */
  #closing(reply: Reply, command: Command | undefined): void {
    if (command?.stage === "endOfData") {
      // It is the reply to this message, and a refusal.
      this.#answer(command.transaction!, { kind: "unsent", reason: reply.text, reply });
    }
    this.#finish(command?.stage === "noop" ? "QUIT" : `The server is closing the connection: ${reply.text}`, reply);
  }

  #finish(reason: string, reply?: Reply): void {
    if (this.#end) return;
    const byUs = this.#isAsked || this.#unanswered[0]?.stage === "quit";
    this.#end = { reason: byUs ? "QUIT" : reason, reply };
    this.#deadline.clear();
    this.#socket.destroy();
    const unanswered = this.#unanswered;
    const unsent = [this.#due, this.#open];
    this.#unanswered = [];
    this.#queued = [];
    this.#due = undefined;
    this.#open = undefined;
    for (const { stage, transaction } of unanswered) {
      if (stage !== "endOfData") continue;
      const isInDoubt = this.#body.dotWritten;
      this.#answer(transaction!, isInDoubt ? { kind: "doubt", reason } : { kind: "unsent", reason, reply });
    }
    for (const transaction of unsent) if (transaction) this.#answer(transaction, { kind: "unsent", reason, reply });
    for (const resume of this.#waiting.splice(0)) resume();
    this.#resolveEnded(this.#end);
  }
}
