/**
 * Signs the console's session cookie, which names the login (a person's session, as listed by the API) or, before
 * login, just the browser. It holds no rights: each page checks whether the login is still valid. Form tokens are
 * derived from it, so that they are valid only within the session.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import jsonwebtoken, { type JwtPayload } from "jsonwebtoken";
import { isUuid, newId } from "../ids.ts";
import { keysFor, seal, unseal } from "../secrets.ts";
import type { Person } from "./bearer.ts";

/** Name of the cookie. */
export const CONSOLE_COOKIE = "fm_session";
/** Cookie of operators, sent only to their pages: the two kinds of sessions are not interchangeable. */
export const OPERATOR_COOKIE = "fm_operator";

/** Idle time after which the session ends. */
const IDLE_SECONDS = 12 * 3_600;
/** Maximum life even if used. Not longer than a login's refresh tokens. */
const LONGEST_SECONDS = 7 * 86_400;
const RENEW_AFTER_SECONDS = 5 * 60;

const ISSUER = "flockmail-console";
const MAX_LENGTH = 1_024;

export interface ConsoleSession {
  /** Id of the login, or of a browser without one. */
  id: string;
  person?: Required<Person>;
  /** `id` belongs to an operator's session. */
  isOperator?: true;
  beganAt: number;
  renewedAt: number;
}

const nowSeconds = () => Math.floor(Date.now() / 1_000);

/** Session of a browser without a login. */
export const newVisitor = (): ConsoleSession => ({ id: newId(), beganAt: nowSeconds(), renewedAt: nowSeconds() });

export const sessionOf = (person: Required<Person>): ConsoleSession => ({
  id: person.sessionId,
  person,
  beganAt: nowSeconds(),
  renewedAt: nowSeconds(),
});

export const operatorSessionOf = (id: string): ConsoleSession => ({
  id,
  isOperator: true,
  beganAt: nowSeconds(),
  renewedAt: nowSeconds(),
});

/** The cookie's value, used just now. */
export function signSession({ id, person, isOperator, beganAt }: ConsoleSession): string {
  const claims = {
    sid: id,
    beg: beganAt,
    ...(person ? { pwd: person.passwordMark } : {}),
    ...(isOperator ? { op: true } : {}),
  };
  return jsonwebtoken.sign(claims, keysFor("console")[0]!, {
    algorithm: "HS256",
    issuer: ISSUER,
    ...(person ? { subject: person.userId } : {}),
    expiresIn: Math.max(1, Math.min(IDLE_SECONDS, beganAt + LONGEST_SECONDS - nowSeconds())),
  });
}

/** Null if it is forged or damaged, or expired unless `alsoEnded` is set. */
export function readSession(cookie: string, { alsoEnded = false } = {}): ConsoleSession | null {
  if (cookie.length > MAX_LENGTH) return null;
  for (const key of keysFor("console")) {
    try {
      const { sub, sid, beg, pwd, op, iat } = jsonwebtoken.verify(cookie, key, {
        algorithms: ["HS256"],
        issuer: ISSUER,
        ignoreExpiration: alsoEnded,
      }) as JwtPayload;
      if (!isUuid(sid) || typeof beg !== "number" || iat === undefined) return null;
      const session = { id: sid, beganAt: beg, renewedAt: iat };
      if (sub === undefined) return op === true ? { ...session, isOperator: true } : session;
      if (!isUuid(sub) || typeof pwd !== "string") return null;
      return { ...session, person: { userId: sub, passwordMark: pwd, sessionId: sid } };
    } catch {}
  }
  return null;
}

export const isDueForRenewal = ({ renewedAt }: ConsoleSession): boolean =>
  nowSeconds() - renewedAt > RENEW_AFTER_SECONDS;

const formMac = (key: Buffer, { id }: ConsoleSession) => createHmac("sha256", key).update(id).digest();

const FORM = "form token";

/**
 * Form token of every write in this session, masked differently on each page: pages are compressed, and constant bytes
 * beside attacker-controlled content could be guessed from the length (BREACH). A person's token also contains the
 * session, encrypted, so that a form can be kept after the cookie is gone (`senderOf`).
 */
export function formToken(session: ConsoleSession): string {
  const mac = formMac(keysFor("form")[0]!, session);
  const mask = randomBytes(mac.length);
  const token = Buffer.concat([mask, masked(mac, mask)]).toString("base64url");
  const { person, ...times } = session;
  return person ? `${token}.${seal(JSON.stringify({ ...times, person }), FORM).toString("base64url")}` : token;
}

/** The person's session in which a form was shown; null if the token is forged or a visitor's. It grants no rights. */
export function senderOf(token: string): ConsoleSession | null {
  const [, sealed] = token.length > MAX_LENGTH ? [] : token.split(".");
  if (!sealed) return null;
  try {
    const session = JSON.parse(unseal(Buffer.from(sealed, "base64url"), FORM)) as ConsoleSession;
    return isFormToken(session, token) ? session : null;
  } catch {
    return null;
  }
}

const masked = (bytes: Buffer, mask: Buffer): Buffer => Buffer.from(bytes.map((byte, i) => byte ^ mask[i]!));

export function isFormToken(session: ConsoleSession, token: string): boolean {
  const given = Buffer.from(token.split(".", 1)[0]!, "base64url");
  const mask = given.subarray(0, given.length / 2);
  return keysFor("form").some((key) => {
    const expected = formMac(key, session);
    if (given.length !== 2 * expected.length) return false;
    return timingSafeEqual(masked(given.subarray(mask.length), mask), expected);
  });
}
