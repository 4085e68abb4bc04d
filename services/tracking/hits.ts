/** Opens and clicks as they come in: read the token, store, then answer. */
import { isRefusal, query } from "../../models/database/db.ts";
import { retryOnConflict } from "../../models/database/retry-on-conflict.ts";
import type { Caller } from "../lib/caller.ts";
import { notFound, throttled } from "../lib/errors.ts";
import { type GroupCommit, groupCommit } from "../lib/group-commit.ts";
import { pixel, redirect } from "../lib/hit-answers.ts";
import { keysFor } from "../lib/secrets.ts";
import type { Document } from "../lib/shapes.ts";
import { type LinkTarget, readLinkToken } from "../lib/tokens/link-token.ts";
import type { Hit } from "./judge.ts";
import { type CampaignRef, isWebAddress, linkUrl, loadLinks } from "./links.ts";
import { recordHits, type Stored } from "./record-hits.ts";

const MAX_BATCH = 500;
/** Far above what is in the air at once; beyond it the database is not keeping up and 503 is the honest answer. */
const MAX_WAITING = 20_000;
const MAX_AGENT_LENGTH = 512;
const THROTTLE_SECONDS = 60;

export type Recorder = GroupCommit<Hit, Stored>;

/** `onQueued` is told which companies have something for their webhooks, after the commit. */
export function recorder(onQueued: (companyIds: string[]) => void): Recorder {
  const store = async (hits: Hit[]) => {
    const { results, companyIds } = await retryOnConflict(() => recordHits(hits));
    if (companyIds.length > 0) onQueued(companyIds);
    return results;
  };
  return groupCommit(store, { maxBatch: MAX_BATCH, maxWaiting: MAX_WAITING, atOnce: 2, mayBeOneItem: isRefusal });
}

/** What a token stands for; null for one that is not ours, or that leads where no browser should go. */
export function readTarget(token: string): LinkTarget | null {
  const target = readLinkToken(keysFor("link"), token);
  return target?.url && !isWebAddress(target.url) ? null : target;
}

function targetOf(token: string): LinkTarget {
  const target = readTarget(token);
  if (!target) throw notFound();
  return target;
}

export const hitOf = (target: LinkTarget, from: { userAgent: string; ip: string } | undefined): Hit => ({
  ...target,
  at: new Date(),
  userAgent: (from?.userAgent ?? "").slice(0, MAX_AGENT_LENGTH).toWellFormed(),
  ip: from?.ip ?? "",
});

export async function open(token: string, http: Caller["http"], hits: Recorder): Promise<Document> {
  const target = targetOf(token);
  if (target.link !== 0) throw notFound();
  if (http?.method === "HEAD") return pixel();
  if (http?.overLimit) throw throttled(THROTTLE_SECONDS);
  const { found } = await hits.add(hitOf(target, http));
  if (!found) throw notFound();
  return pixel();
}

/** Where a link leads, without counting anything. */
async function urlOf({ sentEmailId, link, url }: LinkTarget): Promise<string | null> {
  if (url) return url;
  // The token is the only thing at hand: the mail's row tells the company.
  const [mail] = await query<CampaignRef>("select company_id, campaign_id from sent_emails where id = $1", [
    sentEmailId,
  ]);
  if (!mail) return null;
  await loadLinks([mail]);
  return linkUrl(mail.campaign_id, link) ?? null;
}

export async function click(token: string, http: Caller["http"], hits: Recorder): Promise<Document> {
  const target = targetOf(token);
  if (target.link === 0) throw notFound();
  const uncounted = http?.method === "HEAD" || http?.overLimit;
  const url = uncounted ? await urlOf(target) : (await hits.add(hitOf(target, http))).url;
  if (!url) throw notFound();
  return redirect(url);
}
