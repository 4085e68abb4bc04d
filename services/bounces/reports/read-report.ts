/**
 * From the bytes of a message that came to a bounce address to what they say. Pure; never throws; reads a bounded prefix, so
 * that no message takes more than some milliseconds (test/bench: `reports`).
 */
import { toOneLine } from "../../lib/one-line.ts";
import type { Report, Verdict } from "../verdict.ts";
import { allAddresses, firstAddress, isSameAddress } from "./addresses.ts";
import { type RecipientStatus, readDeliveryStatus } from "./delivery-status.ts";
import { dialectOf } from "./dialects.ts";
import { readFeedbackReport, withoutHidden } from "./feedback-report.ts";
import { decodeWords, type Headers, headerText } from "./headers.ts";
import { judge } from "./judge.ts";
import { MEANINGS, type Meaning } from "./meanings.ts";
import { leavesOf, type Part, readMime, readMimeText, textOf } from "./mime.ts";
import { automaticReason, type IgnoredReason, isChallenger, speaksOfAbsence, speaksOfDelay } from "./not-a-bounce.ts";
import { isAfterData, namedRecipients, refusalIn, wordsAbout } from "./plain-text.ts";
import {
  fromBlock,
  fromPart,
  isReturnedPart,
  messageIdIn,
  type ReturnedMessage,
  splitPasted,
} from "./returned-message.ts";

const MAX_VERDICTS = 100;
const MAX_DIAGNOSTIC = 1_000;
const MAX_NOTICE = 32 * 1_024;
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

/** All that the verdicts are made of. */
interface Material {
  headers: Headers;
  subject: string;
  leaves: Part[];
  /** The words for people, without the returned mail. */
  notice: string;
  returned: ReturnedMessage;
  addressedTo: string[];
}

const NOTHING: Report = {
  verdicts: [ignored("no-report")],
  returnedMessageId: null,
  addressedTo: [],
  dialect: "none",
};

export async function readReport(raw: Uint8Array): Promise<Report> {
  try {
    return understand(gather(readMime(raw)));
  } catch {
    return structuredClone(NOTHING);
  }
}

function gather(message: Part): Material {
  const leaves = leavesOf(message);
  const returnedPart = leaves.find(isReturnedPart);
  const { headers } = message;
  const addressedTo = allAddresses(
    ADDRESSED_HEADERS.flatMap((name) => headers.get(name) ?? []),
    20,
  );
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
    const text = parts.slice(0, 10).map(textOf).join("\n\n").slice(0, MAX_NOTICE);
    if (text.trim() !== "") return splitPasted(text);
  }
  return { notice: "", pasted: "" };
}

/** Where nothing was returned, some servers name the mail in the report's own headers or words. */
function referredTo(headers: Headers, notice: string): string | null {
  const named = ["x-original-message-id", "in-reply-to", "references"].flatMap((name) => headers.get(name) ?? []);
  return (
    named.map(messageIdIn).find((id) => id !== null) ??
    messageIdIn(/message[- ]?id[: ]{1,3}(<[^>\n]{3,500}>)/i.exec(notice)?.[1] ?? "")
  );
}

function understand(material: Material): Report {
  const { headers, leaves, notice, returned, addressedTo } = material;
  const known = dialectOf(headers, notice);
  const report = (dialect: string, verdicts: Verdict[]): Report => ({
    verdicts: verdicts.slice(0, MAX_VERDICTS),
    returnedMessageId: returned.messageId,
    addressedTo,
    dialect,
  });

  const feedback = leaves.find(({ type }) => type === "message/feedback-report");
  if (feedback) return report("arf", complaints(textOf(feedback), returned));
  if (leaves.some(({ type }) => type === "message/disposition-notification"))
    return report("mdn", [ignored("read-receipt")]);

  if (isChallenger(headers)) return report("challenge", [ignored("challenge")]);
  if (JMRP_SUBJECT.test(material.subject) && leaves.some(isReturnedPart))
    return report("jmrp", complaints("", returned));
  const status = readDeliveryStatus(statusText(leaves, notice));
  if (status.recipients.length > 0) {
    const verdicts = status.recipients.map((fields) => fromStatus(fields, status.recipients.length === 1, material));
    return report(known?.name ?? "rfc3464", verdicts);
  }

  const failed = allAddresses(headers.get("x-failed-recipients") ?? [], MAX_VERDICTS);
  const isNotice = known !== undefined || failed.length > 0 || looksLikeNotice(material);
  if (!isNotice) return report("none", [ignored(automaticReason(headers, notice) ?? "no-report")]);
  return report(known?.name ?? "unknown", fromWords(material, failed, known?.recipient));
}

/** Some gateways turn the part for programs into text. */
function statusText(leaves: Part[], notice: string): string {
  const parts = leaves.filter(isStatusPart);
  if (parts.length > 0) return parts.slice(0, 10).map(textOf).join("\n\n");
  const at = notice.search(/^(?:reporting-mta|final-recipient|original-recipient):/im);
  return at < 0 ? "" : notice.slice(at);
}

/** Outlook.com's feedback loop sends the mail alone: https://sendersupport.olc.protection.outlook.com/snds/ */
const JMRP_SUBJECT = /^complaint about message from /i;

function complaints(text: string, returned: ReturnedMessage): Verdict[] {
  const { type, recipients } = readFeedbackReport(text);
  if (type === "not-spam") return [ignored("not-spam")];
  if (type.startsWith("auth-failure") || type === "dmarc") return [ignored("authentication-report")];
  const found = recipients.length > 0 ? recipients : withoutHidden(returned.recipients).slice(0, 1);
  return (found.length > 0 ? found : [null]).map((recipient) => ({
    kind: "complaint",
    reason: type,
    recipient,
    statusCode: null,
    diagnostic: null,
  }));
}

const IGNORED_ACTIONS: Record<string, IgnoredReason> = {
  delayed: "delayed",
  delivered: "delivered",
  relayed: "delivered",
  expanded: "delivered",
};

function fromStatus(fields: RecipientStatus, isOnly: boolean, material: Material): Verdict {
  const recipient = fields.recipient ?? (isOnly ? recipientElsewhere(material) : null);
  const about = recipient ? wordsAbout(material.notice, recipient) : "";
  const ignoredReason =
    IGNORED_ACTIONS[fields.action] ??
    (fields.status.startsWith("2") ? "delivered" : undefined) ??
    (fields.action === "" && speaksOfDelay(material.subject, material.notice) ? "delayed" : undefined);
  const evidence = {
    status: fields.status,
    diagnostic: fields.diagnostic || refusalIn(about) || about,
    notice: about || (isOnly ? material.notice : ""),
    afterData: isAfterData(isOnly ? material.notice : about),
  };
  const { meaning, statusCode } = judge(evidence);
  if (ignoredReason)
    return { ...ignored(ignoredReason, recipient), statusCode, diagnostic: oneLine(evidence.diagnostic) };
  return bounce(meaning, recipient, statusCode, evidence.diagnostic);
}

function fromWords(material: Material, failed: string[], pattern: RegExp | undefined): Verdict[] {
  const { notice, subject, headers, addressedTo, returned } = material;
  if (speaksOfDelay(subject, notice)) return [ignored("delayed", failed[0] ?? recipientElsewhere(material))];
  const apart = [...addressedTo, ...allAddresses(headers.get("from") ?? [], 5)];
  const named = namedRecipients(notice, apart, pattern).filter(
    ({ address }) => failed.length === 0 || failed.some((other) => isSameAddress(other, address)),
  );
  const missing = failed.filter((address) => !named.some((other) => isSameAddress(other.address, address)));
  const all = [...named, ...missing.map((address) => ({ address, words: notice, before: "" }))];
  if (all.length === 0) all.push({ address: withoutHidden(returned.recipients)[0] ?? "", words: notice, before: "" });
  return all.map(({ address, words, before }) => {
    const diagnostic = refusalIn(words) || refusalIn(before) || words;
    const { meaning, statusCode } = judge({ status: "", diagnostic, notice: before, afterData: isAfterData(words) });
    return bounce(meaning, address || null, statusCode, diagnostic);
  });
}

function recipientElsewhere({ headers, notice, returned, addressedTo }: Material): string | null {
  const failed = firstAddress(headers.get("x-failed-recipients")?.[0] ?? "");
  if (failed) return failed;
  const named = namedRecipients(notice, [...addressedTo, ...allAddresses(headers.get("from") ?? [], 5)])[0]?.address;
  if (named && !addressedTo.some((address) => isSameAddress(address, named))) return named;
  return withoutHidden(returned.recipients)[0] ?? named ?? null;
}

const DAEMON =
  /mailer-?daemon|mail ?delivery|postmaster|mail ?system|mail administrator|delivery (?:status|sub)|system administrator|bounce|mdaemon|mailadmin|mail-?server|exchange/i;
const FAILED_SUBJECT =
  /undeliver|^failed mail|non[- ]?deliver|not delivered|delivery (?:status|fail|problem|error|notification|report|has failed|unsuccessful)|(?:mail|message|delivery|sending)[^\n]{0,20} fail|fail(?:ed|ure)[^\n]{0,20}(?:notice|mail|delivery|deliver)|returned (?:mail|e-?mail|to sender|message)|returning message|mail system error|bounced?\b|error (?:sending|delivering|in)|could not (?:be deliver|send|deliver)|unable to deliver|rejected|user unknown|unknown (?:user|recipient|address)|unzustellbar|zustellung|nicht zugestellt|non remis|[eé]chec|no se (?:ha )?(?:pudo|podido)|no entregad|impossibile|mancato recapito|недоставл|не доставлен|配信|送信エラー|投递失败|退信|retourné|niet (?:bezorgd|afgeleverd)|onbestelbaar|niedostarcz|mail rejected|message (?:status|rejected|blocked)|postmaster notify|warning: could not|considered unsolicited/i;
const FAILED_WORDS =
  /(?:not|n't|un)[^\n.]{0,20}deliver|could not be (?:sent|delivered)|failed|rejected|undeliver|returned|unknown|does not exist|not found|bounced|\b5\d\d[ -]|\b5\.\d\.\d|zugestellt|deliver.{0,40}fail|fehler|erreur|error|errore|ошибк|届|退信|full|quota|no such|no user|not (?:a )?(?:valid|exist|match|known)|n'existe|inconnu|invalid|did not (?:exactly )?match/i;

/**
 * From a mail server, or with its subject, and with words of failure. A reader's mail and a program's answer in his name have
 * neither; what speaks of absence in its subject is an answer whoever sends it.
 */
function looksLikeNotice({ headers, subject, notice }: Material): boolean {
  if (/^(?:re|aw|sv|antw)\s*:/i.test(subject) || speaksOfAbsence(subject)) return false;
  const signs = [
    FAILED_SUBJECT.test(subject),
    DAEMON.test(decodeWords(headers.get("from")?.[0] ?? "").replace(/^<>$|^$/, "mailer-daemon")),
    FAILED_WORDS.test(notice) || LISTED.test(notice),
  ];
  return signs.filter(Boolean).length >= 2;
}

/** A recipient on a line of its own, as in qmail's notices, whatever language the rest is in. */
const LISTED = /^<[^<>\s]{1,128}@[^<>\s]{1,255}>:/m;

function ignored(reason: IgnoredReason, recipient: string | null = null): Verdict {
  return { kind: "ignored", reason, recipient, statusCode: null, diagnostic: null };
}

const bounce = (meaning: Meaning, recipient: string | null, statusCode: string | null, words: string): Verdict => ({
  kind: MEANINGS[meaning],
  reason: meaning,
  recipient,
  statusCode,
  diagnostic: oneLine(words),
});

function oneLine(text: string): string | null {
  const line = toOneLine(text.slice(0, MAX_DIAGNOSTIC * 2))
    .replace(/\s+/g, " ")
    .trim();
  return line === "" ? null : line.slice(0, MAX_DIAGNOSTIC);
}
