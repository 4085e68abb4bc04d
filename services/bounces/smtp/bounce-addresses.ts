/** Resolves envelope recipients: bounce addresses of SMTP configurations, with or without a message's token. */
import { LRUCache } from "lru-cache";
import { query, queryOne } from "../../../models/database/db.ts";
import { bounceTokens } from "../../../models/statements/mail-key.ts";
import { addressVariants } from "../../lib/address.ts";
import { tokenOf } from "../../lib/tokens/bounce-token.ts";

export interface BounceRecipient {
  companyId: string;
  smtpConfigId: string;
  /** Undefined for the bare address. */
  token?: string;
}

/** Caches look-ups, because in a bounce storm the same few addresses are looked up hundreds of times per second. */
const KNOWN_MS = 5_000;
const MAX_KNOWN = 10_000;

interface Owner {
  companyId: string;
  smtpConfigId: string;
}

const OWNERS = `
  select id as "smtpConfigId", company_id as "companyId" from smtp_configs
  where lower(bounce_address) = any ($1::text[]) order by id`;
/** Needs no company id: the token is encrypted and names the campaign. */
const COMPANY_OF_CAMPAIGN = "select company_id from campaigns where no = $1";

export class BounceAddresses {
  readonly #owners = new LRUCache<string, Promise<Owner[]>>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  readonly #companies = new LRUCache<number, Promise<string | null>>({ max: MAX_KNOWN, ttl: KNOWN_MS });

  /** Null for unknown addresses, invalid tokens, and tokens of another company's messages. */
  async find(address: string): Promise<BounceRecipient | null> {
    const parts = tokenOf(address);
    const owners = parts ? await this.#ownersOf(parts.bounceAddress) : [];
    // The configured address itself may look like one with a token.
    if (!parts || owners.length === 0) return (await this.#ownersOf(address))[0] ?? null;
    const mail = (await bounceTokens()).read(parts.token);
    const companyId = mail && (await this.#companyOf(mail.campaign_no));
    const owner = owners.find((one) => one.companyId === companyId);
    return owner ? { ...owner, token: parts.token } : null;
  }

  /** Oldest first: it receives what is sent to a bare address that several share. */
  #ownersOf(address: string): Promise<Owner[]> {
    const key = address.toLowerCase();
    return cached(this.#owners, key, () =>
      query<Owner>(OWNERS, [addressVariants(key).map((variant) => variant.toLowerCase())]),
    );
  }

  #companyOf(campaignNo: number): Promise<string | null> {
    return cached(this.#companies, campaignNo, async () => {
      const row = await queryOne<{ company_id: string }>(COMPANY_OF_CAMPAIGN, [campaignNo]);
      return row?.company_id ?? null;
    });
  }
}

/** Concurrent lookups share one promise; failures are not cached. */
function cached<K extends {}, V>(cache: LRUCache<K, Promise<V>>, key: K, ask: () => Promise<V>): Promise<V> {
  const cached = cache.get(key);
  if (cached) return cached;
  const lookup = ask();
  cache.set(key, lookup);
  lookup.catch(() => cache.delete(key));
  return lookup;
}
