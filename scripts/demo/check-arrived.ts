import type { Received } from "./mailbox.ts";

const messageId = ({ raw }: Received) => /^Message-ID: *(\S+)/im.exec(raw.toString("latin1"))?.[1];

/** What is wrong with what arrived; nothing when each of `expected` recipients got one mail of their own. */
export function checkArrived(expected: number, sentCount: number, received: Received[]): string[] {
  const counts: [string, number][] = [
    ["mails arrived", received.length],
    ["different recipients", new Set(received.flatMap((mail) => mail.recipients)).size],
    ["different Message-IDs", new Set(received.map(messageId)).size],
    ["counted as sent", sentCount],
  ];
  return counts.filter(([, n]) => n !== expected).map(([what, n]) => `${n} ${what}, not ${expected}`);
}
