/**
 * Passwords that cost a test next to nothing: each hash takes 120 ms of CPU time, and the test files make hundreds. Only
 * scrypt's work is less; test/unit/accounts/password.test.ts and the tests with processes have it in full.
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

/** Until `stop`; the test files of a worker share Node's modules. */
export function quickPasswords(): { stop(): void } {
  Object.assign(crypto, { scrypt: quick });
  return { stop: () => void Object.assign(crypto, { scrypt: inFull }) };
}
