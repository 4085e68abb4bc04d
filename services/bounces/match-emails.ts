/**
 * Finds the message that each verdict is about: by token or id; else by the Message-ID of the returned headers; else by
 * recipient, as the newest message of the last 14 days. Only messages of the reporting company match.
 */
import { prepared } from "../../models/database/db.ts";
import { bounceTokens, idOfMessage, mailsOf } from "../../models/statements/mail-key.ts";
import { FIND_BY_ADDRESS } from "../../models/statements/record-returns.ts";
import { addressVariants } from "../lib/address.ts";
import { tokenOf } from "../lib/tokens/bounce-token.ts";
import type { MailNumber } from "../lib/tokens/mail-id.ts";
import type { IncomingReport } from "./incoming-report.ts";
import type { MatchedBy } from "./plan-effect.ts";
import type { Verdict } from "./verdict.ts";

/** A verdict and the messages it may be about, most likely first. */
export interface Match {
  incoming: IncomingReport;
  verdict: Verdict;
  candidates: Candidate[];
}

export interface Candidate extends MailNumber {
  matchedBy: MatchedBy;
}

async function tokenCandidates(incoming: IncomingReport): Promise<Candidate[] | undefined> {
  const tokens =
    incoming.token === undefined
      ? incoming.report.addressedTo.flatMap((address) => tokenOf(address)?.token ?? [])
      : [incoming.token];
  if (tokens.length === 0) return undefined;
  const codec = await bounceTokens();
  const matched = tokens.map((token) => codec.read(token)).find((mail) => mail !== null);
  return matched
    ? [{ campaign_no: matched.campaign_no, seq: matched.seq, matchedBy: matched.copy ? "token of copies" : "token" }]
    : [];
}

async function byId(id: string | null, matchedBy: MatchedBy): Promise<Candidate[]> {
  if (id === null) return [];
  return (await mailsOf([id])).map(({ campaign_no, seq }) => ({ campaign_no, seq, matchedBy }));
}

/** Returns the candidates of a token or id; undefined if the report has neither. */
async function exactCandidates(incoming: IncomingReport): Promise<Candidate[] | undefined> {
  const { sentEmailId, messageId } = incoming;
  if (sentEmailId !== undefined) return byId(sentEmailId, "token");
  if (messageId !== undefined) return byId(await idOfMessage(messageId), "token");
  return tokenCandidates(incoming);
}

interface AddressMatch extends MailNumber {
  n: number;
}

/** Adds the newest message to the recipient for reports without token or id. */
async function addCandidatesByAddress(matches: readonly Match[]): Promise<void> {
  const keys = matches.flatMap(({ incoming, verdict }, n) =>
    verdict.recipient === null ? [] : addressVariants(verdict.recipient).map((address) => ({ n, incoming, address })),
  );
  if (keys.length === 0) return;
  const found = await prepared<AddressMatch>("find mails by address", FIND_BY_ADDRESS, [
    keys.map((_, row) => row),
    keys.map(({ incoming }) => incoming.companyId),
    keys.map(({ address }) => address),
  ]);
  for (const { n: row, campaign_no, seq } of found)
    matches[keys[row]!.n]!.candidates.push({ campaign_no, seq, matchedBy: "recipient" });
}

export async function matchEmails(reports: readonly IncomingReport[]): Promise<Match[]> {
  const matches: Match[] = [];
  const others: Match[] = [];
  for (const incoming of reports) {
    const decided = await exactCandidates(incoming);
    const { returnedMessageId } = incoming.report;
    const returned = returnedMessageId === null ? null : await idOfMessage(returnedMessageId);
    const candidates = decided ?? (await byId(returned, "Message-ID"));
    for (const verdict of incoming.report.verdicts) {
      const match = { incoming, verdict, candidates: [...candidates] };
      matches.push(match);
      if (decided === undefined) others.push(match);
    }
  }
  await addCandidatesByAddress(others);
  return matches;
}
