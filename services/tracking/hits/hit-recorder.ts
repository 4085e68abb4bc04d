/**
 * Records opens and clicks: reads the token, stores the hit together with others in one commit, then answers.
 *
 * | what                                                          | where                                                |
 * |---------------------------------------------------------------|------------------------------------------------------|
 * | verify the token (`readLinkToken`); it names message and link, or contains the target | services/lib/tokens/link-token.ts |
 * | find the link's target and add the campaign's UTM parameters  | `destination` in campaign-links.ts                   |
 * | machine or person, first or not                               | classify-hits.ts                                     |
 * | store event, times in the message's row and webhooks, in one statement | `storeHits` in store-hits.ts                |
 * | too many from one address on one message: only count them     | unrecorded-hits.ts                                   |
 * | update the campaign's counts, in the same statement           | the triggers `count_hits`, and `count_events` for rows of email_events (models/schema.sql); without individual tracking `countHits` in count-hits.ts |
 * | answer 302, or the pixel, once stored                         | answers.ts                                           |
 */
import { isRefusal, query } from "../../../models/database/db.ts";
import { retryOnConflict } from "../../../models/database/retry-on-conflict.ts";
import { isCampaignToken } from "../../../models/statements/campaign-tokens.ts";
import { mailOf } from "../../../models/statements/mail-key.ts";
import type { Caller } from "../../lib/caller.ts";
import { notFound, throttled } from "../../lib/errors.ts";
import { type GroupCommit, groupCommit } from "../../lib/group-commit.ts";
import { keysFor } from "../../lib/secrets.ts";
import type { Document } from "../../lib/shapes.ts";
import { type LinkTarget, readLinkToken } from "../../lib/tokens/link-token.ts";
import { pixel, redirect } from "./answers.ts";
import { MAX_AGENT_LENGTH } from "./bot-detection.ts";
import { CampaignLinks, type CampaignRef, destination, isWebAddress, linkUrl } from "./campaign-links.ts";
import type { Hit } from "./classify-hits.ts";
import { type StoredHit, storeHits } from "./store-hits.ts";
import { countUnrecorded } from "./unrecorded-hits.ts";

const MAX_BATCH = 500;
/** Far above normal load; beyond it the database is not keeping up, and 503 is correct. */
const MAX_WAITING = 20_000;

const CAMPAIGN_OF_MAIL = `select c.company_id, c.id as campaign_id from campaigns c
  where c.no = $1 and ($3 or exists (select from sent_emails where campaign_no = $1 and seq = $2))`;

/** Throws if the token is invalid or its target is not a web address. */
function targetOf(token: string): LinkTarget {
  const target = readLinkToken(keysFor("link"), token);
  if (!target || (target.url && !isWebAddress(target.url))) throw notFound();
  return target;
}

const hitOf = (target: LinkTarget, from: Pick<Hit, "userAgent" | "ip" | "hostOf"> | undefined): Hit => ({
  ...target,
  at: new Date(),
  userAgent: (from?.userAgent ?? "").slice(0, MAX_AGENT_LENGTH).toWellFormed(),
  ip: from?.ip ?? "",
  hostOf: from?.hostOf,
});

export class HitRecorder {
  readonly #links = new CampaignLinks();
  readonly #groups: GroupCommit<Hit, StoredHit>;
  readonly #unrecorded: GroupCommit<Hit, undefined>;

  /** `onQueued` receives companies with new webhook deliveries, after the commit. */
  constructor(onQueued: (companyIds: string[]) => void) {
    const store = async (hits: Hit[]) => {
      const { results, companyIds } = await retryOnConflict(() => storeHits(hits, this.#links));
      if (companyIds.length > 0) onQueued(companyIds);
      return results;
    };
    const bounds = { maxBatch: MAX_BATCH, maxWaiting: MAX_WAITING, isItemError: isRefusal };
    this.#groups = groupCommit(store, { ...bounds, atOnce: 2 });
    this.#unrecorded = groupCommit(countUnrecorded, { ...bounds, atOnce: 1 });
  }

  async open(token: string, http: Caller["http"]): Promise<Document> {
    const target = targetOf(token);
    if (target.link !== 0) throw notFound();
    const { overLimit } = http ?? {};
    if (http?.method !== "HEAD") {
      const hit = hitOf(target, http);
      if (overLimit?.isRecorded === false) await this.#unrecorded.add(hit);
      else if (!(await this.#groups.add(hit)).found) throw notFound();
    }
    if (overLimit) throw throttled(overLimit.retryAfterSeconds);
    return pixel();
  }

  async click(token: string, http: Caller["http"]): Promise<Document> {
    const target = targetOf(token);
    if (target.link === 0) throw notFound();
    const isHead = http?.method === "HEAD";
    const isRecorded = !isHead && http?.overLimit?.isRecorded !== false;
    const url = isRecorded
      ? (await this.#groups.add(hitOf(target, http))).url
      : await this.#urlOf(target, http?.hostOf);
    if (!url) throw notFound();
    if (!isRecorded && !isHead) await this.#unrecorded.add(hitOf(target, http));
    return redirect(url);
  }

  /** Returns the target of a link without counting anything. */
  async #urlOf({ sentEmailId, link, url }: LinkTarget, hostOf: string | undefined): Promise<string | null> {
    // Only the token is known; the message's row has the company.
    const number = await mailOf(sentEmailId);
    const values = [number.campaign_no, number.seq, isCampaignToken(number)];
    const [mail] = await query<CampaignRef>(CAMPAIGN_OF_MAIL, values);
    if (hostOf !== undefined && hostOf !== mail?.company_id) return null;
    // An address in a token remains valid after its message was deleted.
    if (!mail) return url ?? null;
    const links = await this.#links.of([mail]);
    const address = url ?? linkUrl(links, mail.campaign_id, link);
    return address ? destination(links, mail.campaign_id, address) : null;
  }

  /** Resolves when everything that was added is stored. */
  async idle(): Promise<void> {
    await Promise.all([this.#groups.idle(), this.#unrecorded.idle()]);
  }
}
