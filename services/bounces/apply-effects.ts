/** Writes the outcomes of verdicts within the transaction that locks the messages' rows. */
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
import { type IncomingReport, type IngestResult, MAX_RAW_BYTES, sourceOf } from "./incoming-report.ts";
import type { Effect, LockedMail } from "./plan-effect.ts";
import type { Verdict } from "./verdict.ts";

const MAX_DIAGNOSTIC = 1_000;
const MAX_ADDRESS = 320;

export interface Outcome {
  incoming: IncomingReport;
  verdict: Verdict;
  /** Null if no message of that company matches. */
  mail: LockedMail | null;
  recipient: string | null;
  /** Null if nothing changes. */
  effect: Effect | null;
}

/** Makes untrusted text storable: one line, valid Unicode, limited length. */
const storable = (text: string | null, max: number): string | null =>
  text === null ? null : toOneLine(text).toWellFormed().slice(0, max).toWellFormed();

const diagnosticOf = ({ diagnostic }: Verdict) => storable(diagnostic, MAX_DIAGNOSTIC);

function errorOf(verdict: Verdict): string {
  const diagnostic = diagnosticOf(verdict) || verdict.reason;
  return `Came back: ${diagnostic}`;
}

function metadataOf({ incoming, verdict }: Outcome): string {
  const common = {
    source: sourceOf(incoming.via),
    enhanced_code: verdict.statusCode,
    diagnostic: diagnosticOf(verdict),
    reason: storable(verdict.reason, MAX_DIAGNOSTIC),
  };
  return JSON.stringify(verdict.kind === "complaint" ? common : { bounce_type: verdict.kind, ...common });
}

type Changing = Outcome & { effect: Effect };

const isChanging = (outcome: Outcome): outcome is Changing => outcome.effect !== null;

async function writeMails(client: Client, changing: readonly Changing[]): Promise<void> {
  // If several reports of a group are about one message, the last one is written.
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

/** Counts soft bounces and returns the addresses that reached the limit in a row. */
async function addressesOverSoftLimit(client: Client, changing: readonly Changing[]): Promise<Blocked[]> {
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
  const blocked: Blocked[] = await addressesOverSoftLimit(client, changing);
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

function resultOf({ verdict, mail }: Outcome): InboundResult {
  // Automatic replies are never `unmatched`.
  if (verdict.kind === "ignored") return "ignored";
  if (mail === null) return "unmatched";
  return verdict.kind === "complaint" ? "complained" : "bounced";
}

/** Prefixes the server's text with the reported address if it differs from the recipient's. */
function notedOf({ verdict, recipient }: Outcome): string | null {
  const named = verdict.recipient;
  const diagnostic = verdict.diagnostic ?? "";
  if (named === null || recipient === null || sameAddress(named, recipient)) return diagnosticOf(verdict);
  return storable(`Reported for ${named}. ${diagnostic}`.trim(), MAX_DIAGNOSTIC);
}

function ingestResultOf(outcome: Outcome): IngestResult {
  const { verdict, mail, recipient, effect } = outcome;
  const { kind } = verdict;
  return {
    id: newId(),
    result: resultOf(outcome),
    sentEmailId: mail?.id ?? null,
    recipient: storable(recipient, MAX_ADDRESS),
    bounceType: kind === "complaint" || kind === "ignored" ? null : kind,
    diagnostic: notedOf(outcome),
    changed: effect !== null,
  };
}

async function writeRaws(client: Client, outcomes: readonly Outcome[]): Promise<Map<IncomingReport, string>> {
  const withRaw = [...new Set(outcomes.map(({ incoming }) => incoming))].filter(({ raw }) => raw !== undefined);
  const ids = new Map(withRaw.map((incoming) => [incoming, newId()]));
  if (withRaw.length === 0) return ids;
  const columns = [
    [...ids.values()],
    withRaw.map(({ companyId }) => companyId),
    withRaw.map(({ raw }) => Buffer.from(raw!.subarray(0, MAX_RAW_BYTES))),
  ];
  await prepared("write raws", WRITE_RAWS, columns, client);
  return ids;
}

async function writeInbound(
  client: Client,
  outcomes: readonly Outcome[],
  results: readonly IngestResult[],
): Promise<void> {
  const raws = await writeRaws(client, outcomes);
  const columns = [
    results.map(({ id }) => id),
    outcomes.map(({ incoming }) => incoming.companyId),
    outcomes.map(({ incoming }) => incoming.via),
    outcomes.map(({ incoming }) => incoming.smtpConfigId ?? null),
    results.map(({ sentEmailId }) => sentEmailId),
    results.map(({ recipient }) => recipient),
    results.map(({ result }) => result),
    results.map(({ bounceType }) => bounceType),
    outcomes.map(({ verdict }) => storable(verdict.reason, MAX_DIAGNOSTIC)),
    outcomes.map(({ incoming }) => storable(incoming.report.dialect, MAX_DIAGNOSTIC)),
    results.map(({ diagnostic }) => diagnostic),
    outcomes.map(({ incoming }) => raws.get(incoming) ?? null),
  ];
  await prepared("write inbound", WRITE_INBOUND, columns, client);
}

/** Counts hard bounces and complaints for the bounce guard and returns the campaigns that it stopped. */
function countForBounceGuard(client: Client, changing: readonly Changing[]): Promise<string[]> {
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
  taken: IngestResult[];
  /** Companies with new webhook deliveries. */
  companyIds: string[];
  /** Campaigns that the bounce guard stopped. */
  stoppedIds: string[];
}

/** Applies all outcomes and returns one result for each. */
export async function applyEffects(client: Client, outcomes: readonly Outcome[]): Promise<Written> {
  const changing = outcomes.filter(isChanging);
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
  const results = outcomes.map(ingestResultOf);
  await writeInbound(client, outcomes, results);
  // Keep this last: it locks campaign rows that senders need until the commit.
  const stoppedIds = await countForBounceGuard(client, changing);
  return { taken: results, companyIds, stoppedIds };
}
