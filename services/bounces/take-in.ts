/**
 * Takes in what came back. Reports that arrive while others are being stored form the next group; each is answered when it
 * is committed, with all that it does: the mail's row, event, webhooks, counters, suppression, subscriber, and its row in
 * the list of what came in. A report that changes nothing (a copy, a stranger's, a forged one) is listed and no more.
 *
 * 1,000 copies of one report change one row: the mail's row is locked, and what was said of it is read after that.
 */
import { type Client, isRefusal, prepared, preparedTransaction } from "../../models/database/db.ts";
import { retryOnConflict } from "../../models/database/retry-on-conflict.ts";
import { withIds } from "../../models/statements/mail-key.ts";
import { EARLIER, LOCK_COPIES, LOCK_MAILS } from "../../models/statements/record-returns.ts";
import { sameAddress } from "../lib/address.ts";
import { groupCommit } from "../lib/group-commit.ts";
import type { Arrival, TakenIn } from "./arrival.ts";
import { decide, type EarlierEvent, type LockedCopy, type LockedMail } from "./decide.ts";
import { withoutErased } from "./erased.ts";
import { findMails, type Notice } from "./find-mails.ts";
import { MARK_SEEN } from "./inbound-reports.ts";
import { type Decision, writeDecisions } from "./write-decisions.ts";

const MAX_BATCH = 200;
/** Each may hold 1 MiB. */
const MAX_WAITING = 400;

export interface Intake {
  /** One answer for each verdict of the report, once it is committed. Throws an AppError 503 where too many wait. */
  takeIn(arrival: Arrival): Promise<TakenIn[]>;
  /** Resolves when nothing waits and nothing is being stored. */
  idle(): Promise<void>;
}

const keyOf = (mail: { campaign_no: number; seq: number }) => `${mail.campaign_no}/${mail.seq}`;
const copyKeyOf = (row: { campaign_id: string; seq: number }) => `${row.campaign_id}/${row.seq}`;

type Unread = Omit<LockedMail, "copies" | "earlier">;

/** By company, campaign's number and number. */
async function lockMails(client: Client, notices: readonly Notice[]): Promise<Map<string, LockedMail>> {
  const wanted = new Map(
    notices.flatMap(({ arrival: { companyId }, candidates }) =>
      candidates.map((mail) => [`${companyId}/${keyOf(mail)}`, { companyId, ...mail }] as const),
    ),
  );
  if (wanted.size === 0) return new Map();
  const asked = [...wanted.values()];
  const rows = await prepared<Unread>(
    "lock returned mails",
    LOCK_MAILS,
    [asked.map((mail) => mail.companyId), asked.map((mail) => mail.campaign_no), asked.map((mail) => mail.seq)],
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
 * Returns false for verdicts that are not taken: a token, or the Message-ID of a mail without copies, stands for one
 * recipient. One verdict of such a report is about that recipient: one that names their address, else the first one; what is
 * ignored comes last.
 */
function isTaken({ arrival, verdict, candidates }: Notice, mails: ReadonlyMap<string, LockedMail>): boolean {
  const { verdicts } = arrival.report;
  const [surest] = candidates;
  const mail = surest && mails.get(`${arrival.companyId}/${keyOf(surest)}`);
  const isOfOne = surest?.sign === "token" || (surest?.sign === "Message-ID" && mail?.copies.length === 0);
  if (verdicts.length < 2 || !isOfOne) return true;
  const telling = verdicts.filter(({ kind }) => kind !== "ignored");
  const own = telling.find(({ recipient }) => sameAddress(recipient ?? "", mail?.email ?? ""));
  return verdict === (own ?? telling[0] ?? verdicts[0]);
}

function decideNotice({ arrival, verdict, candidates }: Notice, mails: ReadonlyMap<string, LockedMail>): Decision {
  for (const candidate of candidates) {
    const mail = mails.get(`${arrival.companyId}/${keyOf(candidate)}`);
    if (!mail) continue;
    const { matched, recipient, effect } = decide(mail, verdict, candidate.sign);
    if (matched) return { arrival, verdict, mail, recipient, effect };
    if (candidate.sign !== "recipient") break;
  }
  return { arrival, verdict, mail: null, recipient: verdict.recipient, effect: null };
}

interface Stored {
  answers: TakenIn[][];
  companyIds: string[];
  stoppedIds: string[];
}

/** Those that were taken in before, or stand twice among these, are left out. */
async function firstOf(client: Client, arrivals: readonly Arrival[]): Promise<Set<Arrival>> {
  const named = new Map<string, Arrival>();
  for (const arrival of arrivals) {
    if (arrival.once) named.set(`${arrival.once.origin}/${arrival.once.key}`, arrival);
  }
  const marks = [...named.values()];
  if (marks.length === 0) return new Set(arrivals);
  const columns = [
    marks.map(({ companyId }) => companyId),
    marks.map(({ once }) => once!.origin),
    marks.map(({ once }) => once!.key),
  ];
  const rows = await prepared<{ origin: string; key: string }>("mark as seen", MARK_SEEN, columns, client);
  const first = new Set(rows.map(({ origin, key }) => named.get(`${origin}/${key}`)!));
  return new Set(arrivals.filter((arrival) => !arrival.once || first.has(arrival)));
}

async function store(arrivals: readonly Arrival[]): Promise<Stored> {
  const found = await findMails(arrivals);
  return preparedTransaction(async (client) => {
    const first = await firstOf(client, arrivals);
    const notices = found.filter(({ arrival }) => first.has(arrival));
    const mails = await lockMails(client, notices);
    const decisions = notices.filter((one) => isTaken(one, mails)).map((one) => decideNotice(one, mails));
    const { taken, companyIds, stoppedIds } = await writeDecisions(client, decisions);
    const answers = new Map<Arrival, TakenIn[]>(arrivals.map((arrival) => [arrival, []]));
    for (const [n, { arrival }] of decisions.entries()) answers.get(arrival)!.push(taken[n]!);
    return { answers: [...answers.values()], companyIds, stoppedIds };
  });
}

/**
 * `webhooksQueued` is given the companies with something for their webhooks, `campaignsStopped` the campaigns that the guard has
 * stopped.
 */
export function startIntake(
  webhooksQueued: (companyIds: string[]) => void,
  campaignsStopped: (campaignIds: string[]) => void = () => {},
): Intake {
  const group = groupCommit<Arrival, TakenIn[]>(
    async (arrivals) => {
      const named = await withoutErased(arrivals);
      const { answers, companyIds, stoppedIds } = await retryOnConflict(() => store(named));
      if (stoppedIds.length > 0) campaignsStopped(stoppedIds);
      if (companyIds.length > 0) webhooksQueued([...new Set(companyIds)]);
      return answers;
    },
    { maxBatch: MAX_BATCH, maxWaiting: MAX_WAITING, mayBeOneItem: isRefusal },
  );
  // A copy: answers are distinguished by the arrival, and the same object may be handed over twice.
  return { takeIn: (arrival) => group.add({ ...arrival }), idle: () => group.idle() };
}
