/** Whom the listener takes mail for: bounce addresses of SMTP configurations, as they are or with the token of a mail. */
import { LRUCache } from "lru-cache";
import { query, queryOne } from "../../../models/database/db.ts";
import { bounceTokens } from "../../../models/statements/mail-key.ts";
import { addressVariants } from "../../lib/address.ts";
import { tokenOf } from "../../lib/tokens/bounce-token.ts";

export interface BounceRecipient {
  companyId: string;
  smtpConfigId: string;
  /** Undefined: the bare address. */
  token?: string;
}

/** In a storm the same few addresses are asked for hundreds of times a second. */
const KNOWN_MS = 5_000;
const MAX_KNOWN = 10_000;

interface Owner {
  companyId: string;
  smtpConfigId: string;
}

const OWNERS = `
  select id as "smtpConfigId", company_id as "companyId" from smtp_configs
  where lower(bounce_address) = any ($1::text[]) order by id`;
/** No company is named: the token says which mail it is, and nobody can make one. */
const COMPANY_OF_CAMPAIGN = "select company_id from campaigns where no = $1";

export class BounceAddresses {
  readonly #owners = new LRUCache<string, Promise<Owner[]>>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  readonly #companies = new LRUCache<number, Promise<string | null>>({ max: MAX_KNOWN, ttl: KNOWN_MS });

  /** Null for an address that is nobody's, a token that was made up, and the token of another company's mail. */
  async find(address: string): Promise<BounceRecipient | null> {
    const parts = tokenOf(address);
    const owners = parts ? await this.#ownersOf(parts.bounceAddress) : [];
    // Whoever has an address that looks like one with a token in it gets that, too.
    if (!parts || owners.length === 0) return (await this.#ownersOf(address))[0] ?? null;
    const mail = (await bounceTokens()).read(parts.token);
    const companyId = mail && (await this.#companyOf(mail.campaign_no));
    const owner = owners.find((one) => one.companyId === companyId);
    return owner ? { ...owner, token: parts.token } : null;
  }

  /** The first one is the oldest: what comes to the bare address of several is that one's. */
  #ownersOf(address: string): Promise<Owner[]> {
    const key = address.toLowerCase();
    return once(this.#owners, key, () =>
      query<Owner>(OWNERS, [addressVariants(key).map((variant) => variant.toLowerCase())]),
    );
  }

  #companyOf(campaignNo: number): Promise<string | null> {
    return once(this.#companies, campaignNo, async () => {
      const row = await queryOne<{ company_id: string }>(COMPANY_OF_CAMPAIGN, [campaignNo]);
      return row?.company_id ?? null;
    });
  }
}

/** Those who ask while the answer is on its way share it; a failure is not remembered. */
function once<K extends {}, V>(cache: LRUCache<K, Promise<V>>, key: K, ask: () => Promise<V>): Promise<V> {
  const known = cache.get(key);
  if (known) return known;
  const asked = ask();
  cache.set(key, asked);
  asked.catch(() => cache.delete(key));
  return asked;
}
