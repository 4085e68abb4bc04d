/** Who makes a request: an API key or a person's access token. What is cached of either is at most a second old. */
import { hash } from "node:crypto";
import type { call } from "../../call.ts";
import type { Caller, Role } from "../../lib/caller.ts";
import { forbidden, notFound, unauthenticated } from "../../lib/errors.ts";
import { type Person, TOKEN_REFUSED, verifyBearer } from "../../lib/tokens/bearer.ts";
import type { Context } from "../http/context.ts";
import type { Access } from "../routes.ts";
import { lookUp } from "./look-up.ts";
import { TtlCache } from "./ttl-cache.ts";

type Broker = Parameters<typeof call>[0];

interface Key {
  companyId: string;
  apiKeyId: string;
  expiresAt: string | null;
}

export type Identity = { key: Key; person?: undefined } | { key?: undefined; person: Person };

const CACHE_MS = 1_000;
const CACHE_ENTRIES = 10_000;
const KEY = /^fm_[A-Za-z0-9]{1,100}$/;

const refusedKey = () => unauthenticated("Invalid API key.");
const isExpired = ({ expiresAt }: Key) => expiresAt !== null && Date.parse(expiresAt) <= Date.now();

export class Authentication {
  readonly #broker: Broker;
  readonly #keys = new TtlCache<Key>(CACHE_MS, CACHE_ENTRIES);
  readonly #roles = new TtlCache<Role>(CACHE_MS, CACHE_ENTRIES);

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** Throws a 401 without good credentials, and a 403 where the key is good but only a person may do this. */
  async identify(context: Context, access: Access): Promise<Identity> {
    const text = context.req.headers["x-api-key"] as string | undefined;
    if (text === undefined) return { person: this.#person(context) };
    const key = await this.#key(text);
    if (access === "user") throw forbidden("An API key cannot do this: sign in and use a bearer token.");
    return { key };
  }

  async #key(text: string): Promise<Key> {
    if (!KEY.test(text)) throw refusedKey();
    // By digest: a dump of this process's memory holds no key that is not in use right now.
    const known = this.#keys.get(hash("sha256", text), async () => {
      const { companyId, apiKeyId, expiresAt } = await lookUp(this.#broker, "accounts.authenticateKey", {
        key: text,
      });
      return { companyId, apiKeyId, expiresAt };
    });
    const key = known instanceof Promise ? await known : known;
    if (isExpired(key)) throw refusedKey();
    return key;
  }

  #person(context: Context): Person {
    const header = context.req.headers.authorization;
    if (header === undefined) throw unauthenticated();
    const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
    const person = token === undefined ? null : verifyBearer(token);
    if (!person) throw unauthenticated(TOKEN_REFUSED);
    return person;
  }

  /** The caller within a company; a company of which the person is no member does not exist for them. */
  async callerIn(companyId: string, { key, person }: Identity): Promise<Caller> {
    if (key) {
      if (key.companyId !== companyId) throw notFound();
      return { companyId, apiKeyId: key.apiKeyId };
    }
    const { userId, passwordMark } = person;
    const role = await this.#roles.get(`${userId} ${passwordMark} ${companyId}`, async () => {
      return (await lookUp(this.#broker, "accounts.membershipOf", { ...person, companyId })).role;
    });
    return { companyId, userId, role };
  }

  forgetKey(apiKeyId: string): void {
    this.#keys.drop((key) => key.apiKeyId === apiKeyId);
  }
}
