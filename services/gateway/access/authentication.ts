/** Who makes a request: an API key or a person's access token. What is cached of either is at most a second old. */
import { hash } from "node:crypto";
import type { Socket } from "node:net";
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
  /** Parsed; none: it may be used from everywhere. */
  allowed: readonly Network[];
}

export type Identity = { key: Key; person?: undefined } | { key?: undefined; person: Person };

const MAX_SUSPECTS = 10_000;
const SUSPECT_MS = 60_000;
const KEY = /^fm_[A-Za-z0-9]{1,100}$/;

const refusedKey = () => unauthenticated("Invalid API key.");
const isExpired = ({ expiresAt }: Key) => expiresAt !== null && Date.parse(expiresAt) <= Date.now();

function unexpired(key: Key): Key {
  if (isExpired(key)) throw refusedKey();
  return key;
}

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
   * Throws a 401 without good credentials, and a 403 for a key that is good, but not here or not for this. Without a promise
   * where the key is known: the common case.
   */
  identify(context: Context, permission: Permission): Identity | Promise<Identity> {
    const text = context.req.headers["x-api-key"] as string | undefined;
    if (text === undefined) return { person: this.#person(context) };
    const { ip } = context.state;
    const { socket } = context.req;
    const known = this.#suspects.has(ip) ? undefined : this.#knownKey(text, socket);
    if (known && !(known instanceof Promise)) return this.#allowed(known, context, permission);
    return this.#key(text, context, known).then((key) => this.#allowed(key, context, permission));
  }

  /** The same for who was identified before: a key that was deleted since is no guess, and does not count as one. */
  async identifyAgain(context: Context, permission: Permission): Promise<Identity> {
    const text = context.req.headers["x-api-key"] as string | undefined;
    if (text === undefined) return { person: this.#person(context) };
    return this.#allowed(await this.#knownKey(text, context.req.socket), context, permission);
  }

  #allowed(key: Key, context: Context, permission: Permission): Identity {
    if (key.allowed.length > 0 && !isWithin(key.allowed, context.state.ip)) {
      throw forbidden("This API key may not be used from this address.");
    }
    requireRights({ scopes: key.scopes }, permission);
    return { key };
  }

  /** Addresses that showed an invalid key a moment ago; only they wait for the count of them. */
  readonly #suspects = new LRUCache<string, true>({ max: MAX_SUSPECTS, ttl: SUSPECT_MS });

  /** `asked`: unless the address is a suspect. */
  async #key(text: string, { req, state: { ip } }: Context, asked: Promise<Key> | undefined): Promise<Key> {
    if (!asked) await requireFewInvalidKeys(ip);
    try {
      return await (asked ?? this.#knownKey(text, req.socket));
    } catch (error) {
      if (isServiceError(error, "UNAUTHENTICATED")) {
        this.#suspects.set(ip, true);
        await noteInvalidKey(ip);
      }
      throw error;
    }
  }

  /** Of the key that a connection brought last. */
  readonly #digests = new WeakMap<Socket, { text: string; digest: string }>();

  /**
   * What is cached goes by digest: a dump of this process's memory holds no key that is not in use right now. Made once for a
   * connection that brings the same key with each request.
   */
  #digestOf(text: string, socket: Socket): string {
    const known = this.#digests.get(socket);
    if (known?.text === text) return known.digest;
    const digest = hash("sha256", text);
    this.#digests.set(socket, { text, digest });
    return digest;
  }

  /** Rejects, where it would have to throw. */
  #knownKey(text: string, socket: Socket): Key | Promise<Key> {
    if (!KEY.test(text)) return Promise.reject(refusedKey());
    const known = this.#keys.get(this.#digestOf(text, socket), async () => {
      const found = await lookUp(this.#broker, "accounts.authenticateKey", { key: text });
      const { companyId, apiKeyId, expiresAt } = found;
      // A node of the release before knows neither, and made no key that has them.
      const { scopes = ["full"], allowedIps = [] } = found as Partial<typeof found>;
      return { companyId, apiKeyId, expiresAt, scopes, allowed: allowedIps.map((text) => parseNetwork(text)!) };
    });
    return known instanceof Promise ? known.then(unexpired) : isExpired(known) ? Promise.reject(refusedKey()) : known;
  }

  #person(context: Context): Person {
    const header = context.req.headers.authorization;
    if (header === undefined) throw unauthenticated();
    const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
    const person = token === undefined ? null : verifyBearer(token);
    if (!person) throw unauthenticated(TOKEN_REFUSED);
    return person;
  }

  /**
   * The caller within a company, of which the person must be a member, else it does not exist for them, and in a role that
   * is enough, else 403.
   */
  async callerIn(companyId: string, { key, person }: Identity, permission: Permission): Promise<Caller> {
    if (key) return callerOfKey(companyId, key);
    const { userId, passwordMark, sessionId } = person;
    const { role } = await this.#roles.get(`${userId} ${passwordMark} ${sessionId} ${companyId}`, async () => {
      return { userId, role: (await lookUp(this.#broker, "accounts.membershipOf", { ...person, companyId })).role };
    });
    requireRights({ role }, permission);
    return { companyId, userId, role, ...(sessionId ? { sessionId } : {}) };
  }

  /** A person apart from any company. Not cached: such requests are few, and must not outlive the session. */
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
