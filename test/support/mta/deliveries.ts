/**
 * Reads delivered mail from the maildirs of real mail servers and compares it with the expected recipients. Does not
 * trust the sender: a mail counts only with its recipient and our Message-ID.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const SENDER_DOMAIN = "sender.example";

export interface Delivery {
  /** The envelope's recipient, as recorded by the server's delivery agent. */
  to: string;
  /** Empty if missing. */
  messageId: string;
  raw: string;
}

/** Headers in which delivery agents record the recipient: Postfix and Dovecot (also X-Original-To), Exim, OpenSMTPD. */
const RECIPIENT = /^(?:X-Original-To|Delivered-To|Envelope-To|X-Recipient): *<?([^>\r\n]+)>?$/im;
const MESSAGE_ID = /^Message-ID: *(?:\r?\n[ \t]+)?(<[^>]*>)/im;

export function deliveryOf(raw: string): Delivery {
  const end = /\r?\n\r?\n/.exec(raw);
  const head = end ? raw.slice(0, end.index + 1) : raw;
  return {
    to: RECIPIENT.exec(head)?.[1]?.trim() ?? "",
    messageId: MESSAGE_ID.exec(head)?.[1] ?? "",
    raw,
  };
}

/** All messages in a folder of maildirs. */
export function deliveriesIn(folder: string): Delivery[] {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true });
  return files
    .filter((entry) => entry.isFile() && /\/(?:new|cur)$/.test(entry.parentPath))
    .map((entry) => deliveryOf(readFileSync(join(entry.parentPath, entry.name), "latin1")));
}

export interface Tally {
  arrived: number;
  lost: string[];
  /** "recipient × times". */
  doubled: string[];
  /** Recipients who should have got nothing. */
  uninvited: string[];
  /** First lines of each mail without a Message-ID of ours. */
  blank: string[];
}

/** Expected result if everybody got exactly one mail. */
export const ALL_ARRIVED = { lost: [], doubled: [], uninvited: [], blank: [] };

/** Shortens a long list to its first entries and its length, so that a failure stays readable. */
const some = (list: string[]) => (list.length > 4 ? [`${list.length} in all`, ...list.slice(0, 3)] : list);

export function tally(deliveries: readonly Delivery[], wanted: Iterable<string>): Tally {
  const expected = new Set(wanted);
  const times = new Map<string, number>();
  const blank: string[] = [];
  for (const { to, messageId, raw } of deliveries) {
    if (!messageId.endsWith(`@${SENDER_DOMAIN}>`)) blank.push(`${to}: ${raw.slice(-200)}`);
    else times.set(to, (times.get(to) ?? 0) + 1);
  }
  return {
    arrived: deliveries.length,
    lost: some([...expected].filter((to) => !times.has(to))),
    doubled: some([...times].flatMap(([to, n]) => (n > 1 ? [`${to} × ${n}`] : []))),
    uninvited: some([...times.keys()].filter((to) => !expected.has(to))),
    blank: some(blank),
  };
}
