/** Waits until everything is settled after all faults are healed, and compares requests with results. */
import { setTimeout as sleep } from "node:timers/promises";
import { SENT_EMAIL_STATUSES, type SentEmailStatus } from "../../models/sent-email-status.ts";
import { HIT_LOOKUPS, HIT_RECIPIENT, HIT_TYPE } from "../../models/statements/hits.ts";
import type { Ledger, MailKind } from "./ledger.ts";
import { MAIL_KINDS } from "./ledger.ts";
import { type Company, LIMIT, WINDOW_MS } from "./load.ts";
import type { Scene } from "./scene.ts";

const LOOK_EVERY_MS = 250;
const OPEN = "('pending', 'sending')";

export interface KindCount {
  asked: number;
  delivered: number;
  /** Neither delivered, nor unknown, nor failed. */
  lost: string[];
  doubled: string[];
  /** Recipients of unknown status, and whether the mail server has their mail. */
  unknown: string[];
  unknownDelivered: number;
  failed: string[];
}

export interface Account {
  mail: Record<MailKind, KindCount>;
  /** Campaigns that did not end in time, and the states of their recipients. */
  unended: string[];
  /** Campaigns whose counters differ from their rows. */
  miscounted: string[];
  incompleteImports: string[];
  webhooks: { wanted: number; missing: string[]; unsettled: number; repeated: number };
  hitsMissing: string[];
  mostInWindow: number;
  limit: number;
}

interface Row {
  id: string;
  status: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  error: string | null;
  emails: string[];
  states: number[];
}

const CAMPAIGNS = `
  select c.id, c.status, c.total_emails, c.sent_count, c.failed_count, c.error,
    coalesce(array_agg(coalesce(e.email, s.email) order by e.seq) filter (where e.seq is not null), '{}') as emails,
    coalesce(array_agg(e.status::int order by e.seq) filter (where e.seq is not null), '{}') as states
  from campaigns c left join sent_emails e on e.campaign_no = c.no
    left join subscribers s on s.company_id = c.company_id and s.id = e.subscriber_id
  where c.id = any ($1) group by c.id`;

/** Resolves when no campaign or webhook is waiting, or after this time. */
export async function settled(scene: Scene, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    // Makes failed deliveries due at once: their schedule takes hours and is tested elsewhere.
    await scene.postgres.query(
      "update webhook_deliveries set next_attempt_at = now() where status = 'pending' and attempts > 0 and next_attempt_at > now() + interval '31 seconds'",
    );
    const [open] = await scene.postgres.query<{ campaigns: number; hooks: number }>(
      `select (select count(*) from campaigns where status in ${OPEN})::int as campaigns,
         (select count(*) from webhook_deliveries where status = 'pending')::int as hooks`,
    );
    if ((open!.campaigns === 0 && open!.hooks === 0) || Date.now() > deadline) return;
    await sleep(LOOK_EVERY_MS);
  }
}

/**
 * The largest number in any rolling window. The window is shorter than the limit's by this process's possible delay.
 */
function mostWithin(times: number[], windowMs: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let [first, most] = [0, 0];
  for (const [n, time] of sorted.entries()) {
    while (sorted[first]! <= time - windowMs) first++;
    most = Math.max(most, n - first + 1);
  }
  return most;
}

function countMail(ledger: Ledger, kind: MailKind, rows: Map<string, Row>): KindCount {
  const count: KindCount = {
    asked: 0,
    delivered: 0,
    lost: [],
    doubled: [],
    unknown: [],
    unknownDelivered: 0,
    failed: [],
  };
  for (const { id, addresses } of ledger.campaigns.filter((campaign) => campaign.kind === kind)) {
    const row = rows.get(id);
    const stateOf = new Map(row?.emails.map((email, n) => [email, SENT_EMAIL_STATUSES[row.states[n]!]!]));
    for (const address of addresses) {
      const copies = ledger.arrivals.get(address)?.length ?? 0;
      const state: SentEmailStatus | undefined = stateOf.get(address);
      count.asked++;
      if (copies > 0) count.delivered++;
      if (copies > 1) count.doubled.push(address);
      if (state === "unknown") count.unknown.push(address);
      if (state === "unknown" && copies > 0) count.unknownDelivered++;
      if (state === "failed" || state === "bounced" || state === "suppressed") count.failed.push(address);
      const isAccountedFor = state === "unknown" || state === "failed" || (state === "sent" && copies > 0);
      if (!isAccountedFor) count.lost.push(`${address} (${state ?? "no row"}, ${copies} copies)`);
    }
  }
  return count;
}

function countersOf({ id, total_emails, sent_count, failed_count, states }: Row): string[] {
  const of = (...wanted: SentEmailStatus[]) =>
    states.filter((state) => wanted.includes(SENT_EMAIL_STATUSES[state]!)).length;
  const rows = [states.length, of("sent"), of("failed", "bounced", "suppressed", "unknown")];
  const counters = [total_emails, sent_count, failed_count];
  return `${rows}` === `${counters}` ? [] : [`${id}: total, sent, failed are ${counters}, rows say ${rows}`];
}

/** A company's mails as its lists count them, and the rows themselves. */
const MAILS = `
  select o.id, count_of(o.id, 'mails', o.id)::int as mails, count_of(o.id, 'mails:sent', o.id)::int as sent, r.*
  from unnest($1::uuid[]) o (id)
  cross join lateral (
    select count(*)::int as rows, (count(*) filter (where e.status = 2))::int as sent_rows
    from campaigns c join sent_emails e on e.campaign_no = c.no where c.company_id = o.id) r`;

async function companyCountersOf(scene: Scene, companies: readonly Company[]): Promise<string[]> {
  type Counted = { id: string; mails: number; sent: number; rows: number; sent_rows: number };
  const counted = await scene.postgres.query<Counted>(MAILS, [companies.map(({ id }) => id)]);
  return counted
    .filter(({ mails, sent, rows, sent_rows }) => mails !== rows || sent !== sent_rows)
    .map(
      ({ id, mails, sent, rows, sent_rows }) =>
        `${id}: mails, sent are ${[mails, sent]}, rows say ${[rows, sent_rows]}`,
    );
}

async function webhooksOf(scene: Scene, ledger: Ledger, company: Company) {
  const sent = await scene.postgres.query<{ email: string }>(
    `select coalesce(e.email, s.email) as email from campaigns c join sent_emails e on e.campaign_no = c.no
     left join subscribers s on s.company_id = c.company_id and s.id = e.subscriber_id
     where c.company_id = $1 and e.status = 2 and c.id = any ($2)`,
    [company.id, ledger.campaigns.map(({ id }) => id)],
  );
  const missing = sent.filter(({ email }) => !ledger.hooks.has(`delivered ${email}`)).map(({ email }) => email);
  const [open] = await scene.postgres.query<{ n: number }>(
    "select count(*)::int as n from webhook_deliveries where status <> 'succeeded'",
  );
  let repeated = 0;
  for (const events of ledger.hooks.values()) for (const times of events.values()) repeated += times - 1;
  return { wanted: sent.length, missing, unsettled: open!.n, repeated };
}

async function hitsMissingOf(scene: Scene, ledger: Ledger, companies: Company[]): Promise<string[]> {
  const stored = await scene.postgres.query<{ key: string }>(
    `select distinct type || ' ' || recipient as key from email_events where company_id = any ($1) and type in ('opened', 'clicked')
     union
     select ${HIT_TYPE} || ' ' || ${HIT_RECIPIENT}
     from hits h join campaigns c on c.no = h.campaign_no and c.company_id = any ($1) ${HIT_LOOKUPS}`,
    [companies.map(({ id }) => id)],
  );
  const keys = new Set(stored.map(({ key }) => key));
  const answered = [
    ...[...ledger.opened].map((email) => `opened ${email}`),
    ...[...ledger.clicked].map((email) => `clicked ${email}`),
  ];
  return answered.filter((key) => !keys.has(key));
}

export async function account(
  scene: Scene,
  ledger: Ledger,
  companies: { plain: Company; limited: Company },
  { lagMs }: { lagMs: number },
): Promise<Account> {
  const rows = await scene.postgres.query<Row>(CAMPAIGNS, [ledger.campaigns.map(({ id }) => id)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const members = await scene.postgres.query<{ list_id: string; n: number }>(
    "select list_id, count(*)::int as n from list_members where company_id = $1 group by list_id",
    [companies.plain.id],
  );
  const membersOf = new Map(members.map(({ list_id, n }) => [list_id, n]));
  const limitedTimes = ledger.campaigns
    .filter(({ kind }) => kind === "limited")
    .flatMap(({ addresses }) => addresses.flatMap((address) => ledger.arrivals.get(address) ?? []));
  const mail = Object.fromEntries(MAIL_KINDS.map((kind) => [kind, countMail(ledger, kind, byId)])) as Account["mail"];
  return {
    mail,
    unended: rows
      .filter(({ status }) => status === "pending" || status === "sending")
      .map(
        ({ id, status, error, states }) => `${id} is ${status} (${error ?? "no error"}), recipients ${tally(states)}`,
      ),
    miscounted: [
      ...rows.flatMap(countersOf),
      ...(await companyCountersOf(scene, [companies.plain, companies.limited])),
    ],
    incompleteImports: ledger.imports
      .filter(({ list, rows: wanted }) => membersOf.get(list) !== wanted)
      .map(({ list, rows: wanted }) => `${list}: ${membersOf.get(list) ?? 0} of ${wanted}`),
    webhooks: await webhooksOf(scene, ledger, companies.plain),
    hitsMissing: await hitsMissingOf(scene, ledger, [companies.plain, companies.limited]),
    mostInWindow: mostWithin(limitedTimes, WINDOW_MS - lagMs),
    limit: LIMIT,
  };
}

function tally(states: number[]): string {
  const counts = new Map<string, number>();
  for (const state of states)
    counts.set(SENT_EMAIL_STATUSES[state]!, (counts.get(SENT_EMAIL_STATUSES[state]!) ?? 0) + 1);
  return [...counts].map(([state, n]) => `${n} ${state}`).join(", ");
}
