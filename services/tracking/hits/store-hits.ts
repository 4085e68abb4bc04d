/**
 * Stores a batch of opens and clicks in one transaction: event rows, changes of messages' rows, and the webhook outbox.
 * Triggers update the campaign's counts (`count_events` in models/schema.sql).
 *
 * The meaning of a hit depends on earlier ones, so the messages' rows are locked first, which serializes nodes that see
 * the same message.
 */
import { type Client, prepared, preparedTransaction } from "../../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { isCampaignToken } from "../../../models/statements/campaign-tokens.ts";
import { mailsOf, withIds } from "../../../models/statements/mail-key.ts";
import { settleDoubt } from "../../../models/statements/settle-doubt.ts";
import type { MailNumber } from "../../lib/tokens/mail-id.ts";
import { BURST_MS } from "./bot-detection.ts";
import { type CampaignLinks, destination, linkUrl } from "./campaign-links.ts";
import { classifyHits, type EarlierClick, type Hit, type Mail, type MailChange } from "./classify-hits.ts";
import { type CountedCampaign, countedCampaigns, countHits } from "./count-hits.ts";
import { type MailOfRow, rowsOf, withParts } from "./hit-rows.ts";
import { LOCK, MARK_EVENTS, MARK_HITS, READ, WRITE } from "./hit-statements.ts";

/** `url` is the target of a click; null for an unknown message or link, of which nothing is stored. */
export interface StoredHit {
  found: boolean;
  url: string | null;
}

const FOUND: StoredHit = { found: true, url: null };
const NOT_FOUND: StoredHit = { found: false, url: null };

interface StoredBatch {
  results: StoredHit[];
  /** Companies with new webhook deliveries. */
  companyIds: string[];
}

/** Columns of a campaign that its messages share. */
interface CampaignOfRow {
  company_id: string;
  company_no: number;
  campaign_id: string;
  /** False: hits are only counted, even those of links that identify the message. */
  individual_tracking: boolean;
  is_deleted: boolean;
  subscribed: string[];
}

type EarlierClicks = [id: string | null, link: number, atMs: number, machine: boolean][] | null;

interface Read extends Mail, MailOfRow, CampaignOfRow {
  /** Links of erased persons still redirect, but nothing is stored. */
  erased: boolean;
  company_id: string;
  campaign_id: string;
  seq: number;
  message_id?: string;
  subscribed: string[];
  earlier_clicks: EarlierClicks;
}

interface ReadRow {
  /** Position among the requested ones, from 1. */
  n: number;
  status: number;
  variant: number | null;
  erased: boolean;
  sent_ms: number | null;
  opened_ms: number | null;
  clicked_ms: number | null;
  earlier_clicks: EarlierClicks;
  /** Present in one row only. */
  campaigns: (CampaignOfRow & { no: number })[] | null;
}

const idsOf = (hits: readonly Hit[]) => [...new Set(hits.map(({ sentEmailId }) => sentEmailId))];

type Known = MailNumber & { id: string };

const dateOf = (ms: number | null) => (ms === null ? null : new Date(ms));

async function readRows(hits: readonly Hit[], known: readonly Known[], client: Client): Promise<Map<string, Read>> {
  if (known.length === 0) return new Map();
  const clicks = hits.filter(({ link }) => link > 0);
  const clicked = new Set(clicks.map(({ sentEmailId }) => sentEmailId));
  const since = new Date(Math.min(Date.now(), ...clicks.map(({ at }) => at.getTime())) - BURST_MS);
  const numbers = [known.map(({ campaign_no }) => campaign_no), known.map(({ seq }) => seq)];
  await prepared("lock mails", LOCK, numbers, client);
  const values = [...numbers, known.map(({ id }) => (clicked.has(id) ? id : null)), since];
  const rows = await prepared<ReadRow>("read mails", READ, values, client);
  const campaigns = new Map(rows.flatMap((row) => row.campaigns ?? []).map(({ no, ...campaign }) => [no, campaign]));
  const mails = new Map<string, Read>();
  for (const { n, campaigns: _, sent_ms, opened_ms, clicked_ms, ...row } of rows) {
    const { id, campaign_no, seq } = known[n - 1]!;
    const campaign = campaigns.get(campaign_no);
    if (!campaign) continue;
    const times = { sent_at: dateOf(sent_ms), opened_at: dateOf(opened_ms), clicked_at: dateOf(clicked_ms) };
    mails.set(id, { id, campaign_no, seq, ...row, ...times, ...campaign });
  }
  return mails;
}

const earlierClicks = (mails: ReadonlyMap<string, Read>): EarlierClick[] =>
  [...mails.values()].flatMap(({ id: sent_email_id, earlier_clicks }) =>
    (earlier_clicks ?? []).map(([id, link, atMs, machine]) => ({
      sent_email_id,
      id,
      link,
      created_at: new Date(atMs),
      machine,
    })),
  );

/** Sorts by key, so that concurrent batches cannot deadlock. */
const byKey = (mails: ReadonlyMap<string, Read>) => (a: MailChange, b: MailChange) =>
  mails.get(a.id)!.campaign_no - mails.get(b.id)!.campaign_no || a.seq - b.seq;

async function settle(client: Client, doubtful: readonly Read[]): Promise<string[]> {
  if (doubtful.length === 0) return [];
  const mails = await withIds([...doubtful]);
  return settleDoubt(
    client,
    mails.map((mail) => ({ ...mail, message_id: mail.message_id!, delivered: true })),
  );
}

interface MailsOfHits {
  mails: Map<string, Read>;
  /** Campaign of a hit; undefined if the message or campaign does not exist. */
  campaignOf: (hit: Hit) => CountedCampaign | undefined;
}

async function mailsOfHits(hits: readonly Hit[], known: readonly Known[], client: Client): Promise<MailsOfHits> {
  const { true: whole = [], false: ofMails = [] } = Object.groupBy(known, (one) => `${isCampaignToken(one)}`);
  const mails = await readRows(hits, ofMails, client);
  if (whole.length === 0) return { mails, campaignOf: ({ sentEmailId }) => mails.get(sentEmailId) };
  const campaigns = await countedCampaigns(whole, client);
  return { mails, campaignOf: ({ sentEmailId }) => campaigns.get(sentEmailId) ?? mails.get(sentEmailId) };
}

async function markAsMachines(client: Client, ids: readonly string[], mails: Iterable<Read>): Promise<void> {
  const all = [...mails];
  const companies = [ids, [...new Set(all.map(({ company_id }) => company_id))]];
  const numbers = [all.map(({ campaign_no }) => campaign_no), all.map(({ seq }) => seq)];
  await client.query(MARK_EVENTS, companies);
  await client.query(MARK_HITS, [...companies, ...numbers]);
}

interface Batch {
  hits: readonly Hit[];
  known: readonly Known[];
  campaignLinks: CampaignLinks;
  mayUseHits: boolean;
}

async function store(batch: Batch, client: Client): Promise<StoredBatch> {
  const { hits, known, campaignLinks, mayUseHits } = batch;
  const { mails, campaignOf } = await mailsOfHits(hits, known, client);
  const links = await campaignLinks.of(
    hits.flatMap((hit) => (hit.link > 0 && campaignOf(hit)) || []),
    client,
  );
  const urlOf = (hit: Hit) => hit.url ?? linkUrl(links, campaignOf(hit)!.campaign_id, hit.link);
  const ofPersons: Hit[] = [];
  const counted: Hit[] = [];
  const results = hits.map((hit): StoredHit => {
    const campaign = campaignOf(hit);
    if (!campaign || (hit.hostOf !== undefined && hit.hostOf !== campaign.company_id)) return NOT_FOUND;
    const url = hit.link === 0 ? undefined : urlOf(hit);
    if (hit.link > 0 && url === undefined) return NOT_FOUND;
    const mail = mails.get(hit.sentEmailId);
    if (!mail?.erased) (mail?.individual_tracking ? ofPersons : counted).push(hit);
    return url === undefined ? FOUND : { found: true, url: destination(links, campaign.campaign_id, url) };
  });
  if (counted.length > 0) await countHits(counted, (hit) => campaignOf(hit)!, client);
  if (ofPersons.length === 0) return { results, companyIds: [] };

  const doubtful = [...mails.values()].filter(
    ({ status, individual_tracking }) => individual_tracking && status === SENT_EMAIL_STATUS.unknown,
  );
  // A message that was opened, even by a machine, has been delivered.
  const settled = await settle(client, doubtful);
  const classified = classifyHits(ofPersons, mails, earlierClicks(mails), (hit) =>
    hit.link > 0 ? urlOf(hit) : undefined,
  );
  if (classified.marked.length > 0) await markAsMachines(client, classified.marked, mails.values());
  classified.changes.sort(byKey(mails));
  const { to, values } = rowsOf({ ...classified, mails, mayUseHits });
  const queued = await prepared<{ company_id: string }>(`write hits to ${to}`, WRITE[to], values, client);
  return { results, companyIds: [...settled, ...queued.map(({ company_id }) => company_id)] };
}

export async function storeHits(hits: readonly Hit[], campaignLinks: CampaignLinks): Promise<StoredBatch> {
  const mails = await mailsOf(idsOf(hits));
  return withParts((mayUseHits) =>
    preparedTransaction((client) => store({ hits, known: mails, campaignLinks, mayUseHits }, client)),
  );
}
