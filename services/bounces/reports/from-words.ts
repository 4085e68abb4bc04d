/** Derives verdicts from notices without a machine-readable part. */

import { classify } from "../../lib/replies/classify.ts";
import type { Verdict } from "../verdict.ts";
import { allAddresses, isSameAddress } from "./addresses.ts";
import type { Dialect } from "./dialects.ts";
import { withoutHidden } from "./feedback-report.ts";
import { expandedFrom, recipientElsewhere } from "./from-fields.ts";
import { decodeWords } from "./headers.ts";
import { bounce, ignored } from "./make-verdict.ts";
import type { Material } from "./material.ts";
import { isAbsenceNote, isDelayNotice, isGivenUp } from "./not-a-bounce.ts";
import { isAfterData, type NamedRecipient, namedRecipients, refusalIn } from "./plain-text.ts";
import { DAEMON, FAILED_SUBJECT, FAILED_WORDS, LISTED, UNDELIVERED } from "./texts/notices.ts";

/**
 * Tells if a message is a bounce notice: it declares itself a report; or it comes from a mail server and its subject or
 * text speaks of failure; or it has both of these and names the failed recipient. A person's reply or an automatic
 * reply meets one of these at most. A subject about absence always means an automatic reply.
 */
export function looksLikeNotice({ headers, subject, notice, addressedTo }: Material): boolean {
  if (/^(?:re|aw|sv|antw)\s*:/i.test(subject) || isAbsenceNote(subject)) return false;
  const from = decodeWords(headers.get("from")?.[0] ?? "");
  const isSubject = FAILED_SUBJECT.test(subject);
  const isFailure = FAILED_WORDS.test(notice) || LISTED.test(notice);
  const isServers = DAEMON.test(from) || /^<?mailer-daemon/i.test(headers.get("return-path")?.[0] ?? "");
  if (isServers || REPORT_TYPE.test(headers.get("content-type")?.[0] ?? "")) return isSubject || isFailure;
  const ownAddresses = [...addressedTo, ...allAddresses([from], 5)];
  const namesSomebody =
    UNDELIVERED.test(notice) ||
    namedRecipients(notice, ownAddresses).some(({ address }) => !ownAddresses.includes(address));
  return (isSubject || from === "<>") && isFailure && namesSomebody;
}

const REPORT_TYPE = /report-type="?delivery-status/i;

/** `failed` are the addresses of X-Failed-Recipients; if there are any, the notice is about these only. */
export function fromWords(material: Material, failed: string[], dialect: Dialect | undefined): Verdict[] {
  const { notice, subject } = material;
  const recipients = recipientsOf(material, failed, dialect);
  const isDelay = isDelayNotice(subject, notice);
  const finalRecipients = isDelay ? recipients.filter(({ words }) => isGivenUp(words)) : recipients;
  if (isDelay && finalRecipients.length === 0) return [ignored("delayed", failed[0] ?? recipientElsewhere(material))];
  return finalRecipients.map(({ address, words, before }) => {
    const refusal = refusalIn(words) || refusalIn(before) || words;
    const { meaning, statusCode } = classify({ text: refusal, notice: before, isAfterData: isAfterData(words) });
    return bounce(meaning, address || null, { statusCode, words: refusal, others: expandedFrom(words) });
  });
}

function recipientsOf(material: Material, failed: string[], dialect: Dialect | undefined): NamedRecipient[] {
  const { notice, headers, addressedTo, returned } = material;
  const wholeNotice = (address: string): NamedRecipient => ({ address, words: notice, before: "" });
  if (dialect?.bare) {
    const { pattern, domain } = dialect.bare;
    const bare = [...notice.matchAll(pattern)].map(([, name]) => wholeNotice(`${name}@${domain}`));
    if (bare.length > 0) return bare;
  }
  const found = namedRecipients(notice, [...addressedTo, ...allAddresses(headers.get("from") ?? [], 5)]);
  const isMeant = ({ address }: NamedRecipient) =>
    failed.length === 0 || failed.some((other) => isSameAddress(other, address));
  const named = found.filter(isMeant);
  const missing = failed.filter((address) => !named.some((other) => isSameAddress(other.address, address)));
  const all = [...named, ...missing.map(wholeNotice)];
  return all.length > 0 ? all : [wholeNotice(withoutHidden(returned.recipients)[0] ?? "")];
}
