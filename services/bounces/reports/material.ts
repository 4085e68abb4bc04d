/** All that verdicts are made of, gathered from a message: its fields, its words for people, the mail that came back. */
import { allAddresses } from "./addresses.ts";
import { type Headers, headerText } from "./headers.ts";
import { leavesOf, type Part, readMimeText, textOf } from "./mime.ts";
import {
  fromBlock,
  fromPart,
  isReturnedPart,
  messageIdIn,
  type ReturnedMessage,
  splitPasted,
} from "./returned-message.ts";

export interface Material {
  headers: Headers;
  subject: string;
  /** Parts without children. */
  leaves: Part[];
  /** The words for people, without the returned mail. */
  notice: string;
  returned: ReturnedMessage;
  addressedTo: string[];
}

const MAX_NOTICE = 32 * 1_024;
/** More text parts than any notice has. */
const MAX_TEXTS = 10;
const MAX_ADDRESSED = 20;
const ADDRESSED_HEADERS = [
  "to",
  "delivered-to",
  "x-original-to",
  "envelope-to",
  "x-envelope-to",
  "x-rcpt-to",
  "x-apparently-to",
  "apparently-to",
  "cc",
];

export function gather(message: Part): Material {
  const leaves = leavesOf(message);
  const returnedPart = leaves.find(isReturnedPart);
  const { headers } = message;
  const values = ADDRESSED_HEADERS.flatMap((name) => headers.get(name) ?? []);
  const addressedTo = allAddresses(values, MAX_ADDRESSED);
  const wrapped = returnedPart && !leaves.some(isStatusPart) ? wrappedReport(returnedPart) : undefined;
  if (wrapped) return { ...gather(wrapped), addressedTo };
  const { notice, pasted } = noticeOf(leaves);
  const returned = returnedPart ? fromPart(returnedPart) : fromBlock(pasted);
  return {
    headers,
    subject: headerText(headers, "subject"),
    leaves,
    notice,
    returned: returned.messageId ? returned : { ...returned, messageId: referredTo(headers, notice) },
    addressedTo,
  };
}

const isStatusPart = ({ type }: Part) => /^message\/(?:global-)?delivery-status$/.test(type);

/** The parts for programs; empty where there are none. */
export const statusText = (leaves: Part[]): string =>
  leaves.filter(isStatusPart).slice(0, MAX_TEXTS).map(textOf).join("\n\n");

/** A report that some filter on the way has put into a mail of its own. */
function wrappedReport(part: Part): Part | undefined {
  const inner = readMimeText(part.body);
  return inner.type === "multipart/report" && leavesOf(inner).some(isStatusPart) ? inner : undefined;
}

/** Text before the returned mail; HTML only where there is no plain text. */
function noticeOf(leaves: Part[]): { notice: string; pasted: string } {
  const end = leaves.findIndex(isReturnedPart);
  const before = (end < 0 ? leaves : leaves.slice(0, end)).filter(
    ({ type, headers }) =>
      type.startsWith("text/") && !/^attachment/i.test(headers.get("content-disposition")?.[0] ?? ""),
  );
  const plain = before.filter(({ type }) => type !== "text/html");
  for (const parts of [plain, before]) {
    const text = parts.slice(0, MAX_TEXTS).map(textOf).join("\n\n").slice(0, MAX_NOTICE);
    if (text.trim() !== "") return splitPasted(compact(text));
  }
  return { notice: "", pasted: "" };
}

/** Without trailing blanks and runs of empty lines, which patterns would have to walk through again and again. */
function compact(text: string): string {
  const lines = text.split("\n").map((line) => line.trimEnd());
  return lines.filter((line, index) => line !== "" || lines[index - 1] !== "").join("\n");
}

/** Where nothing was returned, some servers name the mail in the report's own headers or words. */
function referredTo(headers: Headers, notice: string): string | null {
  const named = ["x-original-message-id", "in-reply-to", "references"].flatMap((name) => headers.get(name) ?? []);
  return (
    named.map(messageIdIn).find((id) => id !== null) ??
    messageIdIn(/message[- ]?id[: ]{1,3}(<[^>\n]{3,500}>)/i.exec(notice)?.[1] ?? "")
  );
}
