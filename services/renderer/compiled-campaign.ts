/**
 * A campaign ready to be rendered, kept while it is sent. Contents are snapshots and never change; what can (the DKIM
 * key) is told by smtpConfig.changed, and read again after MAX_AGE_MS in case that was lost.
 */
import { config } from "../lib/config.ts";
import { keysFor } from "../lib/secrets.ts";
import { addressToken, linkTokens } from "../lib/tokens/link-token.ts";
import { personToken } from "../lib/tokens/person-token.ts";
import { bodiesOf } from "./bodies/bodies.ts";
import { BoundedCache } from "./bounded-cache.ts";
import { keepLinks, loadContent } from "./campaign-rows.ts";
import { type Content, type Installation, Unrenderable } from "./content.ts";
import { type Sign, signer } from "./mime/dkim.ts";
import { type Skeleton, skeletonOf } from "./mime/skeleton.ts";
import { type Recipient, type Scope, scopeOf } from "./program/scope.ts";

export interface CompiledCampaign {
  smtpConfigId: string;
  skeleton: Skeleton;
  sign: Sign | null;
  scope(recipient: Recipient): Scope;
}

interface Loaded {
  campaign: CompiledCampaign;
  bytes: number;
  until: number;
}

const MAX_BYTES = 128 * 1024 * 1024;
const MAX_AGE_MS = 5 * 60_000;
/** Measured: the 10 KB newsletter takes 134 KB compiled, in programs for three uses. */
const OVERHEAD_BYTES = 64 * 1024;
const BYTES_PER_CHARACTER = 8;

const cache = new BoundedCache<CompiledCampaign>(MAX_BYTES);
const loading = new Map<string, Promise<Loaded>>();
/** Grows when a configuration changes: what began to load before must not be kept. */
let generation = 0;

/** The address in ASCII, as headers need it. */
export const installation = (): Installation => ({
  baseUrl: new URL(config().BASE_URL).href.replace(/\/+$/, ""),
  serviceName: config().SERVICE_NAME,
});

/** Where a recipient's preferences are kept; who is no subscriber has only the choice to unsubscribe. */
export function preferencesUrl(baseUrl: string, companyId: string, recipient: Recipient): string {
  if (!recipient.subscriber_id) return `${baseUrl}/api/emails/public/unsubscribe/${recipient.id}/`;
  return `${baseUrl}/api/emails/public/preferences/${personToken("preferences", companyId, recipient.subscriber_id)}/`;
}

/** The company's own facts, for bodies that state them: `[[company.name]]`, `[[company.footer_text]]`. */
export const companyFacts = (content: { companyName: string; footerText: string }) => ({
  "company.name": content.companyName,
  "company.footer_text": content.footerText,
});

/** What the content itself makes impossible, now and later. A database that is away is another matter: it passes. */
function unlessImpossible<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Unrenderable((error as Error).message);
  }
}

async function compile(content: Content, smtpConfigId: string): Promise<CompiledCampaign> {
  const here = installation();
  const bodies = unlessImpossible(() => bodiesOf(content));
  const key = keysFor("link")[0]!;
  const wanted = content.trackingEnabled ? bodies.links : [];
  const links = await keepLinks(content.companyId, content.campaignId, wanted);
  const numbers = new Map(links.map((link, i) => [link, i + 1]));
  const tracking = content.trackingEnabled
    ? {
        links: links.length,
        numberOf: (template: string) => numbers.get(template),
        tokenFor: (id: string, link: number, url: string) => addressToken(key, id, link, url),
      }
    : null;
  const fallback = companyFacts(content);
  return unlessImpossible(() => {
    const skeleton = skeletonOf(content, bodies, here, key, tracking);
    return {
      smtpConfigId,
      skeleton,
      sign: content.dkim ? signer(content.dkim, skeleton.tail) : null,
      scope: (recipient) =>
        scopeOf(recipient, {
          fallback,
          tokens: tracking ? linkTokens(key, recipient.id, links.length) : [],
          preferencesUrl: () => preferencesUrl(here.baseUrl, content.companyId, recipient),
        }),
    };
  });
}

async function load(campaignId: string): Promise<Loaded> {
  const until = Date.now() + MAX_AGE_MS;
  const found = await loadContent(campaignId, { toSend: true });
  if (!found) throw new Unrenderable("The campaign no longer exists.");
  const { content, smtpConfigId } = found;
  const campaign = await compile(content, smtpConfigId);
  const text = BYTES_PER_CHARACTER * (content.body.length + content.subject.length);
  // Signing keeps the attachments a second time, in their canonical form.
  const attached = (campaign.skeleton.tail?.length ?? 0) * (campaign.sign ? 2 : 1);
  return { campaign, bytes: OVERHEAD_BYTES + text + attached, until };
}

/** Throws Unrenderable where no mail of it can ever be made. */
export async function compiledCampaign(campaignId: string): Promise<CompiledCampaign> {
  const cached = cache.get(campaignId);
  if (cached) return cached;
  const startedIn = generation;
  let run = loading.get(campaignId);
  if (!run) {
    const own = load(campaignId).finally(() => loading.get(campaignId) === own && loading.delete(campaignId));
    run = own;
    loading.set(campaignId, own);
  }
  const loaded = await run;
  if (startedIn === generation) cache.set(campaignId, loaded.campaign, loaded);
  return loaded.campaign;
}

/** Forgets the campaigns of a configuration whose key may have changed, and what is being loaded with the old one. */
export function forgetConfig(smtpConfigId: string): void {
  generation++;
  loading.clear();
  cache.deleteWhere((campaign) => campaign.smtpConfigId === smtpConfigId);
}
