/** Collects from a message what verdicts are derived from: its fields, its readable text and the returned message. */
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
  /** Readable text without the returned message. */
  notice: string;
  returned: ReturnedMessage;
  addressedTo: string[];
}

const MAX_NOTICE = 32 * 1_024;
/** More text parts than any real notice has. */
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

/** Text of the machine-readable parts; empty if there are none. */
export const statusText = (leaves: Part[]): string =>
  leaves.filter(isStatusPart).slice(0, MAX_TEXTS).map(textOf).join("\n\n");

/** Returns the report inside a message that a filter wrapped it in. */
function wrappedReport(part: Part): Part | undefined {
  const inner = readMimeText(part.body);
  return inner.type === "multipart/report" && leavesOf(inner).some(isStatusPart) ? inner : undefined;
}

/** Returns the text before the returned message; HTML is used only if there is no plain text. */
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

/** Removes trailing blanks and repeated empty lines, which make patterns slow. */
function compact(text: string): string {
  const lines = text.split("\n").map((line) => line.trimEnd());
  return lines.filter((line, index) => line !== "" || lines[index - 1] !== "").join("\n");
}

/** Some servers that return nothing name the message in the report's headers or text. */
function referredTo(headers: Headers, notice: string): string | null {
  const named = ["x-original-message-id", "in-reply-to", "references"].flatMap((name) => headers.get(name) ?? []);
  return (
    named.map(messageIdIn).find((id) => id !== null) ??
    messageIdIn(/message[- ]?id[: ]{1,3}(<[^>\n]{3,500}>)/i.exec(notice)?.[1] ?? "")
  );
}
