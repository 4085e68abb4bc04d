/**
 * Which mail each verdict is about: the token says it; or whoever reports it knows its id; or the Message-ID of the returned
 * headers, together with the recipient; or the recipient, of the newest mail of that company within 14 days.
 */
import { prepared } from "../../models/database/db.ts";
import { bounceTokens, idOfMessage, mailsOf } from "../../models/statements/mail-key.ts";
import { FIND_BY_ADDRESS } from "../../models/statements/record-returns.ts";
import { addressVariants } from "../lib/address.ts";
import { tokenOf } from "../lib/tokens/bounce-token.ts";
import type { MailNumber } from "../lib/tokens/mail-id.ts";
import type { Arrival } from "./arrival.ts";
import type { Verdict } from "./verdict.ts";

/** A verdict with the mails that it may be about, the likeliest first. */
export interface Notice {
  arrival: Arrival;
  verdict: Verdict;
  candidates: Candidate[];
}

export interface Candidate extends MailNumber {
  token?: { copy: boolean };
}

async function tokenCandidates(arrival: Arrival): Promise<Candidate[] | undefined> {
  const tokens =
    arrival.token === undefined
      ? arrival.report.addressedTo.flatMap((address) => tokenOf(address)?.token ?? [])
      : [arrival.token];
  if (tokens.length === 0) return undefined;
  const codec = await bounceTokens();
  const read = tokens.map((token) => codec.read(token)).find((mail) => mail !== null);
  return read ? [{ campaign_no: read.campaign_no, seq: read.seq, token: { copy: read.copy } }] : [];
}

async function byMessageId(messageId: string): Promise<MailNumber[]> {
  const id = await idOfMessage(messageId);
  return id === null ? [] : mailsOf([id]);
}

const mailItself = ({ campaign_no, seq }: MailNumber): Candidate => ({ campaign_no, seq, token: { copy: false } });

/** What says by itself which mail it is, if anything does. */
async function decidedBy(arrival: Arrival): Promise<Candidate[] | undefined> {
  const { sentEmailId, messageId } = arrival;
  if (sentEmailId !== undefined) return (await mailsOf([sentEmailId])).map(mailItself);
  if (messageId !== undefined) return (await byMessageId(messageId)).map(mailItself);
  return tokenCandidates(arrival);
}

interface Found extends MailNumber {
  n: number;
}

/** Adds, for those that no token and no id speaks for, the newest mail to their recipient. */
async function addByAddress(notices: readonly Notice[]): Promise<void> {
  const asked = notices.flatMap(({ arrival, verdict }, n) =>
    verdict.recipient === null ? [] : addressVariants(verdict.recipient).map((address) => ({ n, arrival, address })),
  );
  if (asked.length === 0) return;
  const found = await prepared<Found>("find mails by address", FIND_BY_ADDRESS, [
    asked.map((_, row) => row),
    asked.map(({ arrival }) => arrival.companyId),
    asked.map(({ address }) => address),
  ]);
  for (const { n: row, campaign_no, seq } of found) notices[asked[row]!.n]!.candidates.push({ campaign_no, seq });
}

export async function findMails(arrivals: readonly Arrival[]): Promise<Notice[]> {
  const notices: Notice[] = [];
  const others: Notice[] = [];
  for (const arrival of arrivals) {
    const decided = await decidedBy(arrival);
    const { returnedMessageId } = arrival.report;
    const candidates = decided ?? (returnedMessageId === null ? [] : await byMessageId(returnedMessageId));
    for (const verdict of aboutOneMail(arrival, decided)) {
      const notice = { arrival, verdict, candidates: [...candidates] };
      notices.push(notice);
      if (decided === undefined) others.push(notice);
    }
  }
  await addByAddress(others);
  return notices;
}

/**
 * A token is about one mail of one recipient, so of several verdicts that no address distinguishes one is taken: the first
 * that says something. Copies have one token for all of them.
 */
function aboutOneMail({ report }: Arrival, decided: Candidate[] | undefined): Verdict[] {
  if (report.verdicts.length < 2 || !decided?.[0] || decided[0].token?.copy) return report.verdicts;
  return [report.verdicts.find(({ kind }) => kind !== "ignored") ?? report.verdicts[0]!];
}
