/**
 * Cheap password hashes for tests: a real one takes 120 ms of CPU time, and the test files make hundreds. Only scrypt's
 * cost is reduced; test/unit/accounts/password.test.ts and tests with real processes use the full cost.
 */
import crypto from "node:crypto";

const inFull = crypto.scrypt;

type Scrypt = (
  password: string,
  salt: Buffer,
  bytes: number,
  options: object,
  done: (error: Error | null, hash: Buffer) => void,
) => void;

const quick: Scrypt = (password, salt, bytes, _options, done) =>
  inFull(password, salt, bytes, { N: 2, r: 1, p: 1 }, done);

/** Active until `stop`, because the test files of a worker share Node's modules. */
export function quickPasswords(): { stop(): void } {
  Object.assign(crypto, { scrypt: quick });
  return { stop: () => void Object.assign(crypto, { scrypt: inFull }) };
}
