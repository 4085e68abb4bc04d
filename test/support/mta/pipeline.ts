/** Adapter between these tests and the product's SMTP connection. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Connection } from "../../../services/smtp-sender/smtp/connection.ts";
import type { Session } from "../../../services/smtp-sender/smtp/session.ts";
import type { StageTimeouts } from "../../../services/smtp-sender/smtp/timeouts.ts";
import type { OutgoingMessage, TransactionResult } from "../../../services/smtp-sender/smtp/transaction.ts";

export type Message = OutgoingMessage;
export type Result = TransactionResult;

export interface Source<M extends Message> {
  next(): M | undefined;
  answered(message: M, result: Result): void;
  closed(reason: string): void;
}

export interface Pipeline {
  /** Signals that there may be something to send. */
  wake(): void;
  /** Ends the session with QUIT. */
  quit(): void;
}

/** Sends all messages of the source, as many at a time as the session allows. */
export function sendFrom<M extends Message>(session: Session, source: Source<M>, timeouts?: StageTimeouts): Pipeline {
  const connection = new Connection(session, timeouts);
  const work = async () => {
    while (connection.isOpen) {
      const message = connection.mayBegin ? source.next() : undefined;
      if (message) source.answered(message, await connection.send(message));
      else await connection.wait();
    }
  };
  for (let n = 0; n < connection.maxUnderWay; n++) void work();
  void connection.ended.then(({ reason }) => source.closed(reason));
  return connection;
}

/** Does the same over a stream instead of an open session's socket. */
export function openPipeline<M extends Message>(stream: Duplex, pipelining: boolean, source: Source<M>): Pipeline {
  const session = {
    socket: stream as unknown as Socket,
    pipelining,
    eightBitMime: true,
    smtpUtf8: true,
    size: 0,
  };
  return sendFrom(session, source);
}
