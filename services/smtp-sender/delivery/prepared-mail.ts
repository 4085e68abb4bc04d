/** One recipient's mail on its way: rendered, marked, and ready for whichever connection asks next. */
import type { Rendered } from "../../renderer/contract.ts";
import type { HourToken } from "../limits/hour-limit.ts";
import type { OutgoingMessage } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";
import type { BatchDelivery } from "./batch-delivery.ts";
import type { RecipientRow } from "./rows.ts";
import { copiesOf } from "./steps.ts";
import { wireAddress } from "./wire-address.ts";

export interface PreparedMail extends OutgoingMessage {
  batch: BatchDelivery;
  row: RecipientRow;
  /** Its token of the hour. */
  token: HourToken;
  /** When a connection took it last. */
  handedAtMs: number;
  /** Times it was handed to a session that ended before it could be accepted. */
  unsent: number;
  /** The mail for cc and bcc, in a transaction of its own. */
  copy: OutgoingMessage | undefined;
  /** What the server said when it accepted it, kept while its copies are under way. */
  accepted: Reply | null;
  /** Set on a copy: the mail it is a copy of. */
  primary: PreparedMail | undefined;
}

type Mail = Extract<Rendered, { ok: true }>;

/** What it takes of the memory; attachments are the same string for all. */
export const sizeOf = (mail: Rendered): number => (mail.ok ? mail.raw.length + (mail.copy?.length ?? 0) : 0);

function letter(from: string, to: readonly string[], raw: string, mail: Mail): OutgoingMessage {
  const wire = to.map(wireAddress);
  const sender = wireAddress(from);
  return {
    from: sender.text,
    to: wire.map(({ text }) => text),
    body: mail.tail === undefined ? [raw] : [raw, mail.tail],
    bytes: raw.length + (mail.tail?.length ?? 0),
    smtpUtf8: mail.smtputf8 || sender.smtpUtf8 || wire.some(({ smtpUtf8 }) => smtpUtf8),
    eightBit: mail.eightBit,
  };
}

export function job(lane: BatchDelivery, row: RecipientRow, mail: Mail, token: HourToken): PreparedMail {
  const from = lane.campaign.sender_email;
  const copies = row.cc || row.bcc ? copiesOf(row) : [];
  const copy = copies.length === 0 ? undefined : letter(from, copies, mail.copy ?? mail.raw, mail);
  return {
    ...letter(from, [row.email], mail.raw, mail),
    batch: lane,
    row,
    token,
    handedAtMs: 0,
    unsent: 0,
    copy,
    accepted: null,
    primary: undefined,
  };
}
