/** Identifies the caller by API key or by a person's access token. Cached answers are at most a second old. */
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { call } from "../../call.ts";
import type { Caller } from "../../lib/caller.ts";
import { forbidden, isServiceError, notFound, unauthenticated } from "../../lib/errors.ts";
import { isWithin, type Network, parseNetwork } from "../../lib/ip-networks.ts";
import { type Permission, type Role, requireRights, type Scope } from "../../lib/rights.ts";
import { type Person, TOKEN_REFUSED, verifyBearer } from "../../lib/tokens/bearer.ts";
import type { Context } from "../http/context.ts";
import { lookUp, lookUpCache } from "./look-up.ts";
import { noteInvalidKey, requireFewInvalidKeys } from "./throttle.ts";

type Broker = Parameters<typeof call>[0];

interface Key {
  companyId: string;
  apiKeyId: string;
  expiresAt: string | null;
  scopes: readonly Scope[];
  /** Parsed networks; an empty list allows every address. */
  allowed: readonly Network[];
}

export type Identity = { key: Key; person?: undefined } | { key?: undefined; person: Person };

const MAX_SUSPECTS = 10_000;
const SUSPECT_MS = 60_000;
const KEY = /^fm_[A-Za-z0-9]{1,100}$/;

const refusedKey = () => unauthenticated("Invalid API key.");
const isExpired = ({ expiresAt }: Key) => expiresAt !== null && Date.parse(expiresAt) <= Date.now();

export function callerOfKey(companyId: string, key: Key): Caller {
  if (key.companyId !== companyId) throw notFound();
  return { companyId, apiKeyId: key.apiKeyId, scopes: key.scopes };
}

export class Authentication {
  readonly #broker: Broker;
  readonly #keys = lookUpCache<Key>();
  readonly #roles = lookUpCache<{ userId: string; role: Role }>();

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /**
   * Throws 401 without valid credentials, and 403 for a valid key that may not be used from this address or for this
   * operation.
   */
  async identify(context: Context, permission: Permission): Promise<Identity> {
    const text = context.req.headers["x-api-key"] as string | undefined;
    if (text === undefined) return { person: this.#person(context) };
    const { ip } = context.state;
    if (this.#suspects.has(ip)) await requireFewInvalidKeys(ip);
    try {
      return this.#allowed(await this.#knownKey(text), context, permission);
    } catch (error) {
      if (isServiceError(error, "UNAUTHENTICATED")) {
        this.#suspects.set(ip, true);
        await noteInvalidKey(ip);
      }
      throw error;
    }
  }

  /** Identifies a caller again after a wait. A key that was deleted in between does not count as a guess. */
  async identifyAgain(context: Context, permission: Permission): Promise<Identity> {
    const text = context.req.headers["x-api-key"] as string | undefined;
    if (text === undefined) return { person: this.#person(context) };
    return this.#allowed(await this.#knownKey(text), context, permission);
  }

  #allowed(key: Key, context: Context, permission: Permission): Identity {
    if (key.allowed.length > 0 && !isWithin(key.allowed, context.state.ip)) {
      throw forbidden("This API key cannot be used from this IP address.");
    }
    requireRights({ scopes: key.scopes }, permission);
    return { key };
  }

  /** Addresses that recently sent an invalid key. Only these wait for the count of invalid keys. */
  readonly #suspects = new LRUCache<string, true>({ max: MAX_SUSPECTS, ttl: SUSPECT_MS });

  /** Cached by digest, so a memory dump contains only keys that are in use at that moment. */
  async #knownKey(text: string): Promise<Key> {
    if (!KEY.test(text)) throw refusedKey();
    const key = await this.#keys.get(hash("sha256", text), async () => {
      const { allowedIps, ...found } = await lookUp(this.#broker, "accounts.authenticateKey", { key: text });
      return { ...found, allowed: allowedIps.map((network) => parseNetwork(network)!) };
    });
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

  /** The caller within a company. Throws 404 unless the person is a member, and 403 if the person's role is too low. */
  async callerIn(companyId: string, { key, person }: Identity, permission: Permission): Promise<Caller> {
    if (key) return callerOfKey(companyId, key);
    const { userId, passwordMark, sessionId } = person;
    const { role } = await this.#roles.get(`${userId} ${passwordMark} ${sessionId} ${companyId}`, async () => {
      return { userId, role: (await lookUp(this.#broker, "accounts.membershipOf", { ...person, companyId })).role };
    });
    requireRights({ role }, permission);
    return { companyId, userId, role, ...(sessionId ? { sessionId } : {}) };
  }

  /** A person outside of any company. Not cached: such requests are rare and must not outlive the session. */
  async personOf(context: Context): Promise<Caller> {
    if (context.req.headers["x-api-key"] !== undefined) {
      throw forbidden("An API key cannot do this: sign in and use a bearer token.");
    }
    const person = this.#person(context);
    await lookUp(this.#broker, "accounts.requireSession", person);
    const { userId, sessionId } = person;
    return { userId, ...(sessionId ? { sessionId } : {}) };
  }

  forgetPerson(userId: string): void {
    this.#roles.drop((known) => known.userId === userId);
  }

  forgetKey(apiKeyId: string): void {
    this.#keys.drop((key) => key.apiKeyId === apiKeyId);
  }
}
