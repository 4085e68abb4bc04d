/** The product's SMTP pipeline under the names that these tests use; the one place that knows where it lives. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { MessageSource, OutgoingMessage, TransactionResult } from "../../../services/smtp-sender/smtp/message.ts";
import { SmtpPipeline } from "../../../services/smtp-sender/smtp/pipeline.ts";

export type Message = OutgoingMessage;
export type Source<M extends Message> = MessageSource<M>;
export type Result = TransactionResult;

export interface Pipeline {
  /** Something to send may be there. */
  wake(): void;
  /** Ends in order. */
  quit(): void;
}

/** A pipeline over a stream that stands where the socket of an opened session would. */
export function openPipeline<M extends Message>(stream: Duplex, pipelining: boolean, source: Source<M>): Pipeline {
  const session = {
    socket: stream as unknown as Socket,
    pipelining,
    eightBitMime: true,
    smtpUtf8: true,
    size: 0,
    loggedIn: false,
  };
  return new SmtpPipeline<M>(session, source);
}
