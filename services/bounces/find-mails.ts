/**
 * Finds the mail that each verdict is about: by the token, or an id that the reporter knows; else by the Message-ID of the
 * returned headers; else, where that is no mail of this company, by the recipient: its newest mail within 14 days.
 */
import { prepared } from "../../models/database/db.ts";
import { bounceTokens, idOfMessage, mailsOf } from "../../models/statements/mail-key.ts";
import { FIND_BY_ADDRESS } from "../../models/statements/record-returns.ts";
import { addressVariants } from "../lib/address.ts";
import { tokenOf } from "../lib/tokens/bounce-token.ts";
import type { MailNumber } from "../lib/tokens/mail-id.ts";
import type { Arrival } from "./arrival.ts";
import type { Sign } from "./decide.ts";
import type { Verdict } from "./verdict.ts";

/** A verdict with the mails that it may be about, the likeliest first. */
export interface Notice {
  arrival: Arrival;
  verdict: Verdict;
  candidates: Candidate[];
}

export interface Candidate extends MailNumber {
  sign: Sign;
}

async function tokenCandidates(arrival: Arrival): Promise<Candidate[] | undefined> {
  const tokens =
    arrival.token === undefined
      ? arrival.report.addressedTo.flatMap((address) => tokenOf(address)?.token ?? [])
      : [arrival.token];
  if (tokens.length === 0) return undefined;
  const codec = await bounceTokens();
  const read = tokens.map((token) => codec.read(token)).find((mail) => mail !== null);
  return read ? [{ campaign_no: read.campaign_no, seq: read.seq, sign: read.copy ? "token of copies" : "token" }] : [];
}

async function byId(id: string | null, sign: Sign): Promise<Candidate[]> {
  if (id === null) return [];
  return (await mailsOf([id])).map(({ campaign_no, seq }) => ({ campaign_no, seq, sign }));
}

/** What says by itself which mail it is, if anything does. */
async function decidedBy(arrival: Arrival): Promise<Candidate[] | undefined> {
  const { sentEmailId, messageId } = arrival;
  if (sentEmailId !== undefined) return byId(sentEmailId, "token");
  if (messageId !== undefined) return byId(await idOfMessage(messageId), "token");
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
  for (const { n: row, campaign_no, seq } of found)
    notices[asked[row]!.n]!.candidates.push({ campaign_no, seq, sign: "recipient" });
}

export async function findMails(arrivals: readonly Arrival[]): Promise<Notice[]> {
  const notices: Notice[] = [];
  const others: Notice[] = [];
  for (const arrival of arrivals) {
    const decided = await decidedBy(arrival);
    const { returnedMessageId } = arrival.report;
    const returned = returnedMessageId === null ? null : await idOfMessage(returnedMessageId);
    const candidates = decided ?? (await byId(returned, "Message-ID"));
    for (const verdict of arrival.report.verdicts) {
      const notice = { arrival, verdict, candidates: [...candidates] };
      notices.push(notice);
      if (decided === undefined) others.push(notice);
    }
  }
  await addByAddress(others);
  return notices;
}
