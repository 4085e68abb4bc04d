/** Writes what was decided about reports, within the transaction that holds the mails' rows. */
import { type Client, prepared } from "../../models/database/db.ts";
import type { InboundResult } from "../../models/inbound-message.ts";
import { countReturns, lockCampaigns } from "../../models/statements/campaign-guard.ts";
import { SOFT_BOUNCES_SUPPRESS_AT } from "../../models/statements/record-outcomes.ts";
import {
  COUNT_SOFT,
  LOCK_SOFT,
  SUPPRESS,
  WRITE_COPIES,
  WRITE_EVENTS,
  WRITE_INBOUND,
  WRITE_MAILS,
  WRITE_RAWS,
} from "../../models/statements/record-returns.ts";
import { settleDoubt } from "../../models/statements/settle-doubt.ts";
import { sameAddress } from "../lib/address.ts";
import { newId } from "../lib/ids.ts";
import { toOneLine } from "../lib/one-line.ts";
import { type Arrival, MAX_RAW_BYTES, sourceOf, type TakenIn } from "./arrival.ts";
import type { Effect, LockedMail } from "./decide.ts";
import type { Verdict } from "./verdict.ts";

const MAX_DIAGNOSTIC = 1_000;
const MAX_ADDRESS = 320;

export interface Decision {
  arrival: Arrival;
  verdict: Verdict;
  /** Null: it belongs to no mail of that company. */
  mail: LockedMail | null;
  recipient: string | null;
  /** Null: nothing changes. */
  effect: Effect | null;
}

/** As PostgreSQL takes it; what a stranger wrote may hold anything. */
const storable = (text: string | null, max: number): string | null =>
  text === null ? null : toOneLine(text).toWellFormed().slice(0, max).toWellFormed();

const diagnosticOf = ({ diagnostic }: Verdict) => storable(diagnostic, MAX_DIAGNOSTIC);

function errorOf(verdict: Verdict): string {
  const said = diagnosticOf(verdict) || verdict.reason;
  return `Came back: ${said}`;
}

function metadataOf({ arrival, verdict }: Decision): string {
  const common = {
    source: sourceOf(arrival.via),
    enhanced_code: verdict.statusCode,
    diagnostic: diagnosticOf(verdict),
    reason: storable(verdict.reason, MAX_DIAGNOSTIC),
  };
  return JSON.stringify(verdict.kind === "complaint" ? common : { bounce_type: verdict.kind, ...common });
}

type Changing = Decision & { effect: Effect };

const isChanging = (decision: Decision): decision is Changing => decision.effect !== null;

async function writeMails(client: Client, changing: readonly Changing[]): Promise<void> {
  // The last word on a mail that several reports of one group are about.
  const bounced = new Map(changing.filter(({ effect }) => effect.bounces).map((one) => [one.effect.mail.id, one]));
  const rows = [...bounced.values()];
  if (rows.length > 0) {
    const columns = [
      rows.map(({ effect }) => effect.mail.company_id),
      rows.map(({ effect }) => effect.mail.campaign_no),
      rows.map(({ effect }) => effect.mail.seq),
      rows.map(({ verdict }) => errorOf(verdict)),
    ];
    await prepared("write returned mails", WRITE_MAILS, columns, client);
  }
  const copies = changing.filter(({ effect }) => effect.copy !== null);
  if (copies.length === 0) return;
  const columns = [
    copies.map(({ effect }) => effect.mail.company_id),
    copies.map(({ effect }) => effect.mail.campaign_id),
    copies.map(({ effect }) => effect.mail.seq),
    copies.map(({ effect }) => effect.copy!.no),
    copies.map(({ verdict }) => errorOf(verdict)),
  ];
  await prepared("write returned copies", WRITE_COPIES, columns, client);
}

async function writeEvents(client: Client, changing: readonly Changing[]): Promise<string[]> {
  const events = changing.filter(({ effect }) => effect.event !== null);
  if (events.length === 0) return [];
  const columns = [
    events.map(({ effect }) => effect.mail.company_id),
    events.map(({ effect }) => effect.mail.campaign_id),
    events.map(({ effect }) => effect.mail.id),
    events.map(({ effect }) => effect.event),
    events.map(({ effect }) => effect.recipient),
    events.map(({ effect }) => effect.event === "bounced" && effect.wasDelivered),
    events.map(metadataOf),
  ];
  const rows = await prepared<{ company_id: string }>("write returns", WRITE_EVENTS, columns, client);
  return rows.map(({ company_id }) => company_id);
}

interface Blocked {
  companyId: string;
  email: string;
  kind: "bounced" | "complained";
  reason: string;
}

/** Counts soft bounces, and returns the addresses that have as many in a row as suppress them. */
async function wornOut(client: Client, changing: readonly Changing[]): Promise<Blocked[]> {
  const soft = changing.filter(({ verdict, effect }) => verdict.kind === "soft" && effect.event === "bounced");
  if (soft.length === 0) return [];
  const addresses = [soft.map(({ effect }) => effect.mail.company_id), soft.map(({ effect }) => effect.recipient)];
  await prepared("lock soft bounces", LOCK_SOFT, addresses, client);
  const rows = await prepared<{ company_id: string; address: string }>(
    "count soft bounces",
    COUNT_SOFT,
    addresses,
    client,
  );
  const reason = `${SOFT_BOUNCES_SUPPRESS_AT} soft bounces in a row.`;
  return rows.map(({ company_id, address }) => ({ companyId: company_id, email: address, kind: "bounced", reason }));
}

async function suppress(client: Client, changing: readonly Changing[]): Promise<void> {
  const blocked: Blocked[] = await wornOut(client, changing);
  for (const { verdict, effect } of changing) {
    const kind = verdict.kind === "complaint" ? "complained" : "bounced";
    if (effect.event === null || (verdict.kind !== "hard" && verdict.kind !== "complaint")) continue;
    const reason = diagnosticOf(verdict) || verdict.reason;
    blocked.push({ companyId: effect.mail.company_id, email: effect.recipient, kind, reason });
  }
  if (blocked.length === 0) return;
  const columns = [
    blocked.map(({ companyId }) => companyId),
    blocked.map(({ email }) => email),
    blocked.map(({ kind }) => kind),
    blocked.map(({ reason }) => reason),
  ];
  await prepared("suppress returned", SUPPRESS, columns, client);
}

function resultOf({ verdict, mail }: Decision): InboundResult {
  // An automatic reply to nobody's mail is no riddle: only a bounce or a complaint can be unmatched.
  if (verdict.kind === "ignored") return "ignored";
  if (mail === null) return "unmatched";
  return verdict.kind === "complaint" ? "complained" : "bounced";
}

/** The server's words; before them the address that the report names where it is not the recipient's own. */
function notedOf({ verdict, recipient }: Decision): string | null {
  const named = verdict.recipient;
  const said = verdict.diagnostic ?? "";
  if (named === null || recipient === null || sameAddress(named, recipient)) return diagnosticOf(verdict);
  return storable(`Reported for ${named}. ${said}`.trim(), MAX_DIAGNOSTIC);
}

function takenOf(decision: Decision): TakenIn {
  const { verdict, mail, recipient, effect } = decision;
  const { kind } = verdict;
  return {
    id: newId(),
    result: resultOf(decision),
    sentEmailId: mail?.id ?? null,
    recipient: storable(recipient, MAX_ADDRESS),
    bounceType: kind === "complaint" || kind === "ignored" ? null : kind,
    diagnostic: notedOf(decision),
    changed: effect !== null,
  };
}

async function writeRaws(client: Client, decisions: readonly Decision[]): Promise<Map<Arrival, string>> {
  const withRaw = [...new Set(decisions.map(({ arrival }) => arrival))].filter(({ raw }) => raw !== undefined);
  const ids = new Map(withRaw.map((arrival) => [arrival, newId()]));
  if (withRaw.length === 0) return ids;
  const columns = [
    [...ids.values()],
    withRaw.map(({ companyId }) => companyId),
    withRaw.map(({ raw }) => Buffer.from(raw!.subarray(0, MAX_RAW_BYTES))),
  ];
  await prepared("write raws", WRITE_RAWS, columns, client);
  return ids;
}

async function writeInbound(client: Client, decisions: readonly Decision[], taken: readonly TakenIn[]): Promise<void> {
  const raws = await writeRaws(client, decisions);
  const columns = [
    taken.map(({ id }) => id),
    decisions.map(({ arrival }) => arrival.companyId),
    decisions.map(({ arrival }) => arrival.via),
    decisions.map(({ arrival }) => arrival.smtpConfigId ?? null),
    taken.map(({ sentEmailId }) => sentEmailId),
    taken.map(({ recipient }) => recipient),
    taken.map(({ result }) => result),
    taken.map(({ bounceType }) => bounceType),
    decisions.map(({ verdict }) => storable(verdict.reason, MAX_DIAGNOSTIC)),
    decisions.map(({ arrival }) => storable(arrival.report.dialect, MAX_DIAGNOSTIC)),
    taken.map(({ diagnostic }) => diagnostic),
    decisions.map(({ arrival }) => raws.get(arrival) ?? null),
  ];
  await prepared("write inbound", WRITE_INBOUND, columns, client);
}

/** Hard bounces and complaints, as the guard counts them. Returns the campaigns that it has stopped. */
function countForGuard(client: Client, changing: readonly Changing[]): Promise<string[]> {
  const counting = changing.filter(
    ({ effect: { event, verdict } }) => event === "complained" || (event === "bounced" && verdict.kind === "hard"),
  );
  return countReturns(
    client,
    counting.map(({ effect: { mail, event } }) => ({
      companyId: mail.company_id,
      campaignId: mail.campaign_id,
      sentAt: mail.sent_at,
      hard: event === "bounced",
    })),
  );
}

export interface Written {
  taken: TakenIn[];
  /** With something for their webhooks. */
  companyIds: string[];
  /** Campaigns that the guard has stopped. */
  stoppedIds: string[];
}

/** What became of each. */
export async function writeDecisions(client: Client, decisions: readonly Decision[]): Promise<Written> {
  const changing = decisions.filter(isChanging);
  const doubtful = changing.filter(({ effect }) => effect.settles);
  if (doubtful.length > 0) {
    await lockCampaigns(
      client,
      changing.map(({ effect }) => effect.mail),
    );
  }
  const companyIds = await settleDoubt(
    client,
    doubtful.map(({ effect: { mail, event } }) => ({ ...mail, delivered: event === "complained" })),
  );
  await writeMails(client, changing);
  companyIds.push(...(await writeEvents(client, changing)));
  await suppress(client, changing);
  const taken = decisions.map(takenOf);
  await writeInbound(client, decisions, taken);
  // Last: senders that record for these campaigns wait for their rows until this is committed.
  const stoppedIds = await countForGuard(client, changing);
  return { taken, companyIds, stoppedIds };
}
