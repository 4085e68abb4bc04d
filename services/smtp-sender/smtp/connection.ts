/**
 * Sends mail over one open SMTP session. `send` writes an email and resolves with the server's reply. If the server
 * offers PIPELINING, a second email may start while the first is unanswered: the body of one message, its final dot, and
 * MAIL, RCPT, DATA of the next are one write (RFC 2920 section 3.1), so that a message costs one round trip. Without
 * PIPELINING every command waits for the previous reply.
 *
 * Replies are matched to commands only by order, so anything that is not a reply ends the session. A message whose
 * final dot was written and not answered is then in doubt; any other was certainly not accepted.
 *
 * At most one body is unanswered, with at most one envelope open behind it. RSET precedes that envelope: a server may
 * keep the transaction open after it has refused a message (Postfix with smtpd_end_of_data_restrictions), answer the
 * next MAIL with 503 and add the next RCPT to the old transaction.
 *
 * An envelope is pipelined behind a message only while the server accepts messages quickly: a written envelope cannot
 * be withdrawn, and a slow server would start that email long after its campaign was stopped. If a quick server becomes
 * slow, an email that may no longer be sent is withdrawn at its 354 by ending the session.
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

/** Names of the stages in error texts. */
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

/** If the server takes longer to accept a message, the next envelope waits for the reply. */
const QUICK_ANSWER_MS = 1_000;

/** A firewall may have dropped a connection that was idle for longer. */
const ASKED_AFTER_IDLE_MS = 2_000;

/** Why the session ended; `reply`: the 421, if there was one. */
export interface SessionEnd {
  reason: string;
  reply: Reply | undefined;
}

export class Connection {
  readonly session: Session;
  readonly openedAtMs = performance.now();
  /**
   * Resolves after the replies to all emails. The reason is "QUIT" if the session ended in order, or was closed while
   * idle.
   */
  readonly ended: Promise<SessionEnd>;
  /** Emails passed to the connection. */
  tried = 0;
  accepted = 0;
  /** Messages that were written completely and answered. */
  handled = 0;
  /** Refusals in a row. */
  refusedInARow = 0;
  /** Time since which it waits for a reply; undefined while idle. */
  busySince: number | undefined;
  /** Time since which it is idle; undefined while busy. */
  idleSince: number | undefined = performance.now();
  /** Time of the server's last reply while the connection was idle. */
  #lastReplyAtMs = 0;
  #socket: Socket;
  #timeouts: StageTimeouts;
  #reader = new ReplyReader();
  /** Unanswered commands, in order. */
  #unanswered: Command[] = [];
  /** Commands not written yet, if the server has no PIPELINING. */
  #queued: Command[] = [];
  /** Mail whose envelope was written and whose DATA is not answered. */
  #open: Transaction | undefined;
  /**
   * Mail whose body the server expects. It is written in the next microtask, with the envelope of the next email if
   * there is one.
   */
  #due: Transaction | undefined;
  /** Mail whose envelope is written behind that body. */
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

  /** Maximum emails in progress. */
  get maxUnderWay(): number {
    return this.session.pipelining ? 2 : 1;
  }

  /** True if the next email may be sent now. */
  get mayBegin(): boolean {
    if (this.#open || this.#ending || this.#end || this.#isProbing || this.isStale) return false;
    return this.session.pipelining ? this.#isQuick || !this.#isBehindMessage : !this.#isUnderWay;
  }

  /** True if it was idle for so long that the server is probed first (`ask`). */
  get isStale(): boolean {
    const { idleSince } = this;
    return (
      idleSince !== undefined && performance.now() - Math.max(idleSince, this.#lastReplyAtMs) > ASKED_AFTER_IDLE_MS
    );
  }

  get #isProbing(): boolean {
    return this.#unanswered[0]?.stage === "noop";
  }

  /** True while a message is written and not answered. */
  get #isBehindMessage(): boolean {
    return this.#due !== undefined || this.#unanswered.some(({ stage }) => stage === "endOfData");
  }

  /** True while the server owes a reply or expects a body. */
  get #isUnderWay(): boolean {
    return this.#unanswered.length > 0 || this.#open !== undefined || this.#due !== undefined;
  }

  /** Resolves when there may be something to send: on wake-up, when it may start another email, or when it ends. */
  wait(): Promise<void> {
    return this.#end ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Wakes one waiting caller to look for an email. */
  wake(): void {
    if (this.mayBegin) this.#waiting.shift()?.();
  }

  /** Probes the server of a stale connection with NOOP. It may start emails again upon the reply, or has ended. */
  ask(): void {
    if (this.#end || this.#ending || this.#isUnderWay || !this.isStale) return;
    this.#write([{ stage: "noop", text: "NOOP\r\n", transaction: undefined }]);
  }

  /** Sends an email; only while `mayBegin`. */
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

  /** Starts nothing more; sends QUIT once everything is answered. */
  quit(): void {
    this.#ending = true;
    if (!this.#isUnderWay) this.#sendQuit();
  }

  /** Ends the session now, even with emails in progress. */
  abort(reason: string): void {
    this.#finish(reason);
  }

  #sendQuit(): void {
    if (this.#end || this.#unanswered.length > 0) return;
    this.#unanswered.push({ stage: "quit", text: "", transaction: undefined });
    this.#socket.end("QUIT\r\n");
    this.#extend("quit");
  }

  /** Writes the commands after a message in one write. Without PIPELINING only the first one. */
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

  /** Updates the deadline after each step: which reply is due next, and by when. */
  #updateDeadline(): void {
    const [head] = this.#unanswered;
    if (head) {
      if (head.stage !== "noop") this.idleSince = undefined;
      this.#extend(head.stage === "endOfData" && this.#body.busy ? "block" : head.stage);
    } else if (this.#isUnderWay) {
      // The body is about to be written.
    } else if (this.#ending) {
      this.#sendQuit();
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
      // Runs once for all replies that arrived together.
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
    // Bytes after the last expected reply: an earlier one was not a reply, and it is unknown which.
    if (this.#unanswered.length === 0 && this.#reader.isIncomplete && command.stage !== "quit") {
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
        // Any reply proves that the server is there.
        this.#lastReplyAtMs = performance.now();
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
      // MAIL was refused and RCPT accepted: anything written now, even an empty message, would reach somebody.
      this.#answer(open, refusedResult(open, failure));
      this.#finish(`The server accepted recipients of a message whose sender it had refused: ${failure.reply.text}`);
    } else {
      // The server expects a message without recipients: an empty one ends the transaction (RFC 2920 section 3.1).
      this.#unanswered.push({ stage: "emptyData", text: "", transaction: undefined });
      this.#answer(open, refusedResult(open, open.failure!));
      this.#body.write([], ".\r\n");
    }
  }

  /**
   * The body is written a microtask later: a waiting caller takes the next email first, so that its envelope is sent in
   * the same write.
   */
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
    // The session may have ended.
    if (this.#due !== transaction) return;
    this.#due = undefined;
    this.#unanswered.push({ stage: "endOfData", text: "", transaction });
    this.#bodyWrittenAtMs = performance.now();
    this.#write(this.#behind, transaction.message.body);
    this.#behind = [];
  }

  /** The server expects the message: only ending the session keeps it from delivering an empty one. */
  #withdraw(transaction: Transaction): void {
    this.#open = undefined;
    this.#answer(transaction, { kind: "unsent", reason: "The message was withdrawn", withdrawn: true });
    this.#finish("QUIT");
  }

  #endOfData({ transaction }: Command, reply: Reply): void {
    // A message without its final dot cannot have been accepted.
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

  /** Continues or aborts the open transaction, if the server has no PIPELINING. */
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

  /** A 421 is possible at any time: the server is about to close and will not answer outstanding commands. */
  #closing(reply: Reply, command: Command | undefined): void {
    if (command?.stage === "endOfData") {
      // The 421 is the reply to this message, and a refusal.
      this.#answer(command.transaction!, { kind: "unsent", reason: reply.text, reply });
    }
    this.#finish(command?.stage === "noop" ? "QUIT" : `The server is closing the connection: ${reply.text}`, reply);
  }

  #finish(reason: string, reply?: Reply): void {
    if (this.#end) return;
    const byUs = this.#isProbing || this.#unanswered[0]?.stage === "quit";
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
