/** The product's SMTP pipeline under the names that these tests use; the one place that knows where it lives. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Letter, Post, Verdict } from "../../../services/smtp-sender/letter.ts";
import { Transactions } from "../../../services/smtp-sender/transaction.ts";

export type Message = Letter;
export type Source<M extends Message> = Post<M>;
export type Result = Verdict;

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
  return new Transactions<M>(session, source);
}
