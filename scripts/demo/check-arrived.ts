import type { Received } from "./mailbox.ts";

const messageId = ({ raw }: Received) => /^Message-ID: *(\S+)/im.exec(raw.toString("latin1"))?.[1];

/** Lists errors in the received mail; empty if each of the `expected` recipients got exactly one. */
export function checkArrived(expected: number, sentCount: number, received: Received[]): string[] {
  const counts: [string, number][] = [
    ["mails arrived", received.length],
    ["different recipients", new Set(received.flatMap((mail) => mail.recipients)).size],
    ["different Message-IDs", new Set(received.map(messageId)).size],
    ["counted as sent", sentCount],
  ];
  return counts.filter(([, n]) => n !== expected).map(([what, n]) => `${n} ${what}, not ${expected}`);
}
