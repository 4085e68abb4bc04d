/**
 * Opens and clicks as they come in: read the token, store, then answer. Stored in groups, one commit for many. The whole way:
 *
 * | step                                                          | where                                                |
 * |---------------------------------------------------------------|------------------------------------------------------|
 * | the token is ours: `readLinkToken`; it names mail and link, or carries the address | services/lib/tokens/link-token.ts |
 * | where the link leads, with the campaign's UTM values          | `destination` in campaign-links.ts                   |
 * | a machine's or a person's, the first or not                   | classify-hits.ts                                     |
 * | event, times on the mail's row and webhooks, in one statement | `storeHits` in store-hits.ts                         |
 * | too many from one address on one mail: a number of the campaign and no more | unrecorded-hits.ts |
 * | the campaign's counts, in the same statement                  | the triggers `count_hits`, and `count_events` for rows of email_events (models/schema.sql); without individual tracking `countHits` in count-hits.ts |
 * | 302, or the pixel, when it is stored                          | answers.ts                                           |
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
/** Far above what is in flight at once; beyond it the database is not keeping up and 503 is the honest answer. */
const MAX_WAITING = 20_000;

const CAMPAIGN_OF_MAIL = `select c.company_id, c.id as campaign_id from campaigns c
  where c.no = $1 and ($3 or exists (select from sent_emails where campaign_no = $1 and seq = $2))`;

/** Throws for a token that is not ours, or that leads where no browser should go. */
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

  /** `onQueued` is called with the companies that have something for their webhooks, after the commit. */
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

  /** Where a link leads, without counting anything. */
  async #urlOf({ sentEmailId, link, url }: LinkTarget, hostOf: string | undefined): Promise<string | null> {
    // The token is the only thing at hand: the mail's row says which company it is.
    const number = await mailOf(sentEmailId);
    const values = [number.campaign_no, number.seq, isCampaignToken(number)];
    const [mail] = await query<CampaignRef>(CAMPAIGN_OF_MAIL, values);
    if (hostOf !== undefined && hostOf !== mail?.company_id) return null;
    // An address in a token outlives its mail.
    if (!mail) return url ?? null;
    const links = await this.#links.of([mail]);
    const address = url ?? linkUrl(links, mail.campaign_id, link);
    return address ? destination(links, mail.campaign_id, address) : null;
  }

  /** When everything that was added is stored. */
  async idle(): Promise<void> {
    await Promise.all([this.#groups.idle(), this.#unrecorded.idle()]);
  }
}
