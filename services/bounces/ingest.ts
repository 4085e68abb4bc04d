/**
 * Ingests reports in groups: those that arrive while a group is being stored form the next one. Each is answered once
 * its effects are committed: message row, event, webhooks, counters, suppression, subscriber and inbound message. A
 * report that changes nothing (duplicate, unmatched or forged) is only listed.
 *
 * The message's row is locked before its earlier events are read, so that copies of a report take effect once.
 */
import { type Client, isRefusal, prepared, preparedTransaction } from "../../models/database/db.ts";
import { retryOnConflict } from "../../models/database/retry-on-conflict.ts";
import { withIds } from "../../models/statements/mail-key.ts";
import { EARLIER, LOCK_COPIES, LOCK_MAILS } from "../../models/statements/record-returns.ts";
import { sameAddress } from "../lib/address.ts";
import { groupCommit } from "../lib/group-commit.ts";
import { applyEffects, type Outcome } from "./apply-effects.ts";
import { withoutErased } from "./erased.ts";
import type { IncomingReport, IngestResult } from "./incoming-report.ts";
import { type Match, matchEmails } from "./match-emails.ts";
import { type EarlierEvent, type LockedCopy, type LockedMail, planEffect } from "./plan-effect.ts";
import { INSERT_SEEN } from "./provider-report-queue.ts";

const MAX_BATCH = 200;
/** Maximum waiting reports; each may have 1 MiB. */
const MAX_WAITING = 400;

export interface Ingester {
  /** Returns one result per verdict once the report is committed. Throws an AppError 503 if too many reports wait. */
  ingest(incoming: IncomingReport): Promise<IngestResult[]>;
  /** Resolves when no report waits or is being stored. */
  idle(): Promise<void>;
}

const keyOf = (mail: { campaign_no: number; seq: number }) => `${mail.campaign_no}/${mail.seq}`;
const copyKeyOf = (row: { campaign_id: string; seq: number }) => `${row.campaign_id}/${row.seq}`;

type Unread = Omit<LockedMail, "copies" | "earlier">;

/** Keys are company, campaign number and message number. */
async function lockMails(client: Client, matches: readonly Match[]): Promise<Map<string, LockedMail>> {
  const wanted = new Map(
    matches.flatMap(({ incoming: { companyId }, candidates }) =>
      candidates.map((mail) => [`${companyId}/${keyOf(mail)}`, { companyId, ...mail }] as const),
    ),
  );
  if (wanted.size === 0) return new Map();
  const items = [...wanted.values()];
  const rows = await prepared<Unread>(
    "lock returned mails",
    LOCK_MAILS,
    [items.map((mail) => mail.companyId), items.map((mail) => mail.campaign_no), items.map((mail) => mail.seq)],
    client,
  );
  if (rows.length === 0) return new Map();
  const mails = (await withIds(rows)).map((row): LockedMail => ({ ...row, copies: [], earlier: [] }));
  await readMore(client, mails);
  return new Map(mails.map((mail) => [`${mail.company_id}/${keyOf(mail)}`, mail]));
}

async function readMore(client: Client, mails: readonly LockedMail[]): Promise<void> {
  const companies = mails.map(({ company_id }) => company_id);
  const ofMail = [companies, mails.map(({ campaign_id }) => campaign_id), mails.map(({ seq }) => seq)];
  const copies = await prepared<LockedCopy>("lock returned copies", LOCK_COPIES, ofMail, client);
  const withCopies = new Map(mails.map((mail) => [copyKeyOf(mail), mail]));
  for (const copy of copies) withCopies.get(copyKeyOf(copy))!.copies.push(copy);
  const ids = [companies, mails.map(({ id }) => id)];
  const events = await prepared<EarlierEvent>("earlier returns", EARLIER, ids, client);
  const withEvents = new Map(mails.map((mail) => [mail.id, mail]));
  for (const event of events) withEvents.get(event.sent_email_id)!.earlier.push(event);
}

/**
 * A token, or the Message-ID of a message without copies, stands for one recipient, so only one verdict counts: one
 * that names their address, else the first that is not `ignored`, else the first.
 */
function isCounted({ incoming, verdict, candidates }: Match, mails: ReadonlyMap<string, LockedMail>): boolean {
  const { verdicts } = incoming.report;
  const [surest] = candidates;
  const mail = surest && mails.get(`${incoming.companyId}/${keyOf(surest)}`);
  const isOfOne = surest?.matchedBy === "token" || (surest?.matchedBy === "Message-ID" && mail?.copies.length === 0);
  if (verdicts.length < 2 || !isOfOne) return true;
  const telling = verdicts.filter(({ kind }) => kind !== "ignored");
  const ownRecipient = telling.find(({ recipient }) => sameAddress(recipient ?? "", mail?.email ?? ""));
  return verdict === (ownRecipient ?? telling[0] ?? verdicts[0]);
}

function outcomeOf({ incoming, verdict, candidates }: Match, mails: ReadonlyMap<string, LockedMail>): Outcome {
  for (const candidate of candidates) {
    const mail = mails.get(`${incoming.companyId}/${keyOf(candidate)}`);
    if (!mail) continue;
    const { matched, recipient, effect } = planEffect(mail, verdict, candidate.matchedBy);
    if (matched) return { incoming, verdict, mail, recipient, effect };
    if (candidate.matchedBy !== "recipient") break;
  }
  return { incoming, verdict, mail: null, recipient: verdict.recipient, effect: null };
}

interface Stored {
  answers: IngestResult[][];
  companyIds: string[];
  stoppedIds: string[];
}

/** Drops reports that were ingested before or are duplicates within the group. */
async function withoutDuplicates(client: Client, reports: readonly IncomingReport[]): Promise<Set<IncomingReport>> {
  const named = new Map<string, IncomingReport>();
  for (const incoming of reports) {
    if (incoming.dedupe) named.set(`${incoming.dedupe.origin}/${incoming.dedupe.key}`, incoming);
  }
  const marks = [...named.values()];
  if (marks.length === 0) return new Set(reports);
  const columns = [
    marks.map(({ companyId }) => companyId),
    marks.map(({ dedupe }) => dedupe!.origin),
    marks.map(({ dedupe }) => dedupe!.key),
  ];
  const rows = await prepared<{ origin: string; key: string }>("mark as seen", INSERT_SEEN, columns, client);
  const first = new Set(rows.map(({ origin, key }) => named.get(`${origin}/${key}`)!));
  return new Set(reports.filter((incoming) => !incoming.dedupe || first.has(incoming)));
}

async function store(reports: readonly IncomingReport[]): Promise<Stored> {
  const found = await matchEmails(reports);
  return preparedTransaction(async (client) => {
    const first = await withoutDuplicates(client, reports);
    const matches = found.filter(({ incoming }) => first.has(incoming));
    const mails = await lockMails(client, matches);
    const outcomes = matches.filter((one) => isCounted(one, mails)).map((one) => outcomeOf(one, mails));
    const { taken, companyIds, stoppedIds } = await applyEffects(client, outcomes);
    const answers = new Map<IncomingReport, IngestResult[]>(reports.map((incoming) => [incoming, []]));
    for (const [n, { incoming }] of outcomes.entries()) answers.get(incoming)!.push(taken[n]!);
    return { answers: [...answers.values()], companyIds, stoppedIds };
  });
}

/**
 * `webhooksQueued` receives companies with new webhook deliveries, `campaignsStopped` campaigns that the bounce guard
 * stopped.
 */
export function startIngester(
  webhooksQueued: (companyIds: string[]) => void,
  campaignsStopped: (campaignIds: string[]) => void = () => {},
): Ingester {
  const group = groupCommit<IncomingReport, IngestResult[]>(
    async (reports) => {
      const named = await withoutErased(reports);
      const { answers, companyIds, stoppedIds } = await retryOnConflict(() => store(named));
      if (stoppedIds.length > 0) campaignsStopped(stoppedIds);
      if (companyIds.length > 0) webhooksQueued([...new Set(companyIds)]);
      return answers;
    },
    { maxBatch: MAX_BATCH, maxWaiting: MAX_WAITING, isItemError: isRefusal },
  );
  // Copy the report: results are keyed by object, and callers may pass the same object twice.
  return { ingest: (incoming) => group.add({ ...incoming }), idle: () => group.idle() };
}
