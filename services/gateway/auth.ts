/** Who asks: an API key or a person's access token (spec section 5). What is remembered is at most a second old. */
import { hash } from "node:crypto";
import { call } from "../call.ts";
import type { Caller, Role } from "../lib/caller.ts";
import { forbidden, notFound, unauthenticated } from "../lib/errors.ts";
import { type Person, TOKEN_REFUSED, verifyBearer } from "../lib/tokens/bearer.ts";
import type { Exchange } from "./exchange.ts";
import { Remember } from "./remember.ts";
import type { Access } from "./routes.ts";

type Broker = Parameters<typeof call>[0];

interface Key {
  companyId: string;
  apiKeyId: string;
  expiresAt: string | null;
}

export type Identity = { key: Key; person?: undefined } | { key?: undefined; person: Person };

const REMEMBER_MS = 1_000;
const REMEMBER_MAX = 10_000;
/** Everyone with the same key waits for one answer: a call that was lost (NATS delivers at most once) must not hold them long. */
const LOOK_UP = { timeout: 3_000 };
const KEY = /^fm_[A-Za-z0-9]{1,100}$/;

const refusedKey = () => unauthenticated("Invalid API key.");
const isExpired = ({ expiresAt }: Key) => expiresAt !== null && Date.parse(expiresAt) <= Date.now();

export class Authentication {
  readonly #broker: Broker;
  readonly #keys = new Remember<Key>(REMEMBER_MS, REMEMBER_MAX);
  readonly #roles = new Remember<Role>(REMEMBER_MS, REMEMBER_MAX);

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** Throws the 401 of spec 5.4, or a 403 where a key is good but only a person may ask. */
  async identify(exchange: Exchange, access: Access): Promise<Identity> {
    const text = exchange.req.headers["x-api-key"] as string | undefined;
    if (text === undefined) return { person: this.#person(exchange) };
    const key = await this.#key(text);
    if (access === "user") throw forbidden("An API key cannot do this: sign in and use a bearer token.");
    return { key };
  }

  async #key(text: string): Promise<Key> {
    if (!KEY.test(text)) throw refusedKey();
    // By digest: a dump of this process's memory holds no key that is not in use right now.
    const known = this.#keys.get(hash("sha256", text), async () => {
      const { companyId, apiKeyId, expiresAt } = await call(
        this.#broker,
        "accounts.authenticateKey",
        { key: text },
        LOOK_UP,
      );
      return { companyId, apiKeyId, expiresAt };
    });
    const key = known instanceof Promise ? await known : known;
    if (isExpired(key)) throw refusedKey();
    return key;
  }

  #person(exchange: Exchange): Person {
    const header = exchange.req.headers.authorization;
    if (header === undefined) throw unauthenticated();
    const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
    const person = token === undefined ? null : verifyBearer(token);
    if (!person) throw unauthenticated(TOKEN_REFUSED);
    return person;
  }

  /** The caller within a company; a company of which she is no member does not exist for her. */
  async callerIn(companyId: string, { key, person }: Identity): Promise<Caller> {
    if (key) {
      if (key.companyId !== companyId) throw notFound();
      return { companyId, apiKeyId: key.apiKeyId };
    }
    const { userId, passwordMark } = person;
    const role = await this.#roles.get(`${userId} ${passwordMark} ${companyId}`, async () => {
      return (await call(this.#broker, "accounts.membershipOf", { ...person, companyId }, LOOK_UP)).role;
    });
    return { companyId, userId, role };
  }

  forgetKey(apiKeyId: string): void {
    this.#keys.forget((key) => key.apiKeyId === apiKeyId);
  }
}
