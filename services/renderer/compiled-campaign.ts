/** A campaign ready to be rendered: compiled once, and cached while it is sent. */
import { LRUCache } from "lru-cache";
import { config } from "../lib/config.ts";
import { linksBase } from "../lib/links-base.ts";
import { keysFor } from "../lib/secrets.ts";
import { addressToken, LinkTokens } from "../lib/tokens/link-token.ts";
import { personToken } from "../lib/tokens/person-token.ts";
import type { Bodies } from "./bodies/bodies.ts";
import { type LoadedContent, loadContent, storeLinks } from "./campaign-rows.ts";
import { type Content, companyVariables, type Installation, Unrenderable, unrenderable } from "./content.ts";
import { mailBodies, TooHeavy } from "./heavy.ts";
import { type Sign, signer } from "./mime/dkim.ts";
import { type Skeleton, skeletonOf } from "./mime/skeleton.ts";
import { type Recipient, type Scope, scopeOf } from "./program/scope.ts";

export interface CompiledCampaign {
  companyId: string;
  smtpConfigId: string;
  skeleton: Skeleton;
  sign: Sign | null;
  scope(recipient: Recipient): Scope;
}

export const installation = (trackingDomain: string | null = null): Installation => ({
  baseUrl: linksBase(trackingDomain),
  serviceName: config().SERVICE_NAME,
});

export const unsubscribeUrl = (baseUrl: string, { id }: Recipient): string =>
  `${baseUrl}/api/emails/public/unsubscribe/${id}/`;

/** The recipient's preferences page; a recipient who is not a subscriber can only unsubscribe. */
function preferencesUrl(baseUrl: string, companyId: string, recipient: Recipient): string {
  if (!recipient.subscriber_id) return unsubscribeUrl(baseUrl, recipient);
  return `${baseUrl}/api/emails/public/preferences/${personToken("preferences", companyId, recipient.subscriber_id)}/`;
}

/** Errors of the content itself are permanent. An unreachable database is not, so only pure steps run in here. */
function permanently<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw unrenderable(error);
  }
}

/** The bodies with this text before the subject. */
const prefixed = (bodies: Bodies, text: string): Bodies => ({
  ...bodies,
  subject: [{ kind: "text", text }, ...bodies.subject],
});

/** All variants share one list of links: a number always means the same URL. */
async function numberLinks(variants: readonly Content[]): Promise<void> {
  const links = new Set<string>();
  for (const source of variants) {
    for (const link of (await mailBodies(source.companyId, source)).links) links.add(link);
  }
  const { companyId, campaignId } = variants[0]!;
  await storeLinks(companyId, campaignId, [...links]);
}

/** Throws Unrenderable if no mail can be rendered from it. */
export async function compile(loaded: LoadedContent): Promise<CompiledCampaign> {
  const { content, smtpConfigId, variants, subjectPrefix } = loaded;
  const here = installation(content.trackingDomain);
  const { trackingEnabled: isTracked } = content;
  const isFirstOfVariants = isTracked && variants.length > 0 && loaded.storedLinks === null;
  if (isFirstOfVariants) await numberLinks(variants);
  const prepared = await mailBodies(content.companyId, content);
  const bodies = subjectPrefix ? prefixed(prepared, subjectPrefix) : prepared;
  const key = keysFor("link")[0]!;
  const usedLinks = isTracked ? bodies.links : [];
  const links = await storeLinks(content.companyId, content.campaignId, usedLinks);
  const numbers = new Map(links.map((link, i) => [link, i + 1]));
  const tracking = content.trackingEnabled
    ? {
        links: links.length,
        numberOf: (template: string) => numbers.get(template),
        tokenFor: (id: string, link: number, url: string) =>
          addressToken(key, content.campaignTokenId ?? id, link, url),
      }
    : null;
  const fallback = companyVariables(content);
  // Rendered once if it is the same for all emails.
  const shared = content.campaignTokenId === null ? null : new LinkTokens(key, content.campaignTokenId);
  return permanently(() => {
    const skeleton = skeletonOf(content, bodies, here, key, tracking);
    return {
      companyId: content.companyId,
      smtpConfigId,
      skeleton,
      sign: content.dkim.length > 0 ? signer(content.dkim, skeleton.tail) : null,
      scope: (recipient) =>
        scopeOf(recipient, {
          fallback,
          tokens: tracking && (shared ?? new LinkTokens(key, recipient.id)),
          preferencesUrl: () => preferencesUrl(here.baseUrl, content.companyId, recipient),
        }),
    };
  });
}

const MAX_BYTES = 128 * 1024 * 1024;
const MAX_AGE_MS = 5 * 60_000;
/** Measured: the 10 KB newsletter takes 134 KB compiled, in programs for three uses. */
const OVERHEAD_BYTES = 64 * 1024;
const BYTES_PER_CHARACTER = 8;

interface Loaded {
  campaign: CompiledCampaign;
  bytes: number;
  startedMs: number;
}

/** Unit of compilation: a campaign, or one of its variants. */
const keyOf = (campaignId: string, variant: number | null) =>
  variant === null ? campaignId : `${campaignId} ${variant}`;

async function load(campaignId: string, variant: number | null): Promise<Loaded> {
  const startedMs = performance.now();
  const found = await loadContent(campaignId, { toSend: true, variant });
  if (!found) throw new Unrenderable("The campaign no longer exists.");
  const { content } = found;
  const campaign = await compile(found);
  const text = BYTES_PER_CHARACTER * (content.body.length + content.subject.length + (content.textBody?.length ?? 0));
  // Signing keeps a second copy of the attachments, as bytes.
  const attached = (campaign.skeleton.tail?.length ?? 0) * (campaign.sign ? 2 : 1);
  return { campaign, bytes: OVERHEAD_BYTES + text + attached, startedMs };
}

/**
 * The compiled campaigns of one node. Contents are snapshots and never change; the DKIM keys and the host of the links
 * can: smtpConfig.changed and trackingDomain.changed report it, and after MAX_AGE_MS they are read again in case that
 * event was lost.
 */
export class CompiledCampaigns {
  readonly #cache = new LRUCache<string, CompiledCampaign>({
    maxSize: MAX_BYTES,
    ttl: MAX_AGE_MS,
    ttlAutopurge: true,
  });
  readonly #loading = new Map<string, Promise<Loaded>>();
  /** Cached because repeating this for every batch would occupy a thread for the whole campaign. */
  readonly #tooHeavy = new LRUCache<string, TooHeavy>({ max: 1_000, ttl: MAX_AGE_MS });
  readonly #onDefect: (campaignId: string, cause: unknown) => void;
  /** Grows when a configuration changes: what began to load before must not be cached. */
  #generation = 0;

  /** `onDefect` is called for errors that are not caused by a campaign's content. */
  constructor(onDefect: (campaignId: string, cause: unknown) => void = () => {}) {
    this.#onDefect = onDefect;
  }

  /** Throws Unrenderable if no mail of the campaign can ever be made. */
  async get(campaignId: string, variant: number | null = null): Promise<CompiledCampaign> {
    const key = keyOf(campaignId, variant);
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const tooHeavy = this.#tooHeavy.get(key);
    if (tooHeavy) throw tooHeavy;
    const generation = this.#generation;
    const { campaign, bytes, startedMs } = await this.#load(key, campaignId, variant);
    // A campaign larger than the whole cache takes all of it, instead of being compiled again for every batch.
    const size = Math.min(bytes, MAX_BYTES);
    if (generation === this.#generation) this.#cache.set(key, campaign, { size, start: startedMs });
    return campaign;
  }

  /** Number of cached campaigns. */
  get size(): number {
    return this.#cache.size;
  }

  /** Drops campaigns that may have changed, and ignores loads in progress. */
  drop(applies: (campaign: CompiledCampaign) => boolean): void {
    this.#generation++;
    this.#loading.clear();
    for (const [key, campaign] of this.#cache.entries()) if (applies(campaign)) this.#cache.delete(key);
  }

  #load(key: string, campaignId: string, variant: number | null): Promise<Loaded> {
    const running = this.#loading.get(key);
    if (running) return running;
    const loading = load(campaignId, variant)
      .catch((error) => {
        if (error instanceof TooHeavy) this.#tooHeavy.set(key, error);
        if (error instanceof Unrenderable && error.cause) this.#onDefect(campaignId, error.cause);
        throw error;
      })
      .finally(() => {
        if (this.#loading.get(key) === loading) this.#loading.delete(key);
      });
    this.#loading.set(key, loading);
    return loading;
  }
}
