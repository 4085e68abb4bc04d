/**
 * Limits failed logins per account and per network, besides the gateway's limit per address. A browser that signed in
 * before has its own count, so attackers elsewhere cannot lock its owner out.
 */

import { createHash } from "node:crypto";
import { addressText } from "../../lib/address.ts";
import { throttled } from "../../lib/errors.ts";
import { addressPrefix } from "../../lib/ip-networks.ts";
import { apiLimiter } from "../../lib/limits/api-limiter.ts";
import { exactWindow, type Window } from "../../lib/limits/limiter.ts";

const WINDOW_SECONDS = 300;
const PER_ACCOUNT = 10;
const PER_NETWORK = 50;
const NOTICE_SECONDS = 86_400;

const accountKey = (email: string) =>
  createHash("sha256").update(addressText(email).toLowerCase()).digest("base64url").slice(0, 22);

export interface Attempt {
  /** If it fails, the account is throttled. */
  isLastOfAccount: boolean;
  /** Resets the account's count and removes this attempt from the network's count. */
  succeeded(): Promise<void>;
}

/**
 * Throws a 429 after too many failures. Counts before the password is checked, so that concurrent attempts cannot
 * bypass the limit.
 */
export async function beginAttempt(email: string, ip: string, deviceId: string | null): Promise<Attempt> {
  const account = exactWindow(`login:${accountKey(email)}`, PER_ACCOUNT, WINDOW_SECONDS);
  const network = exactWindow(`login-network:${addressPrefix(ip)}`, PER_NETWORK, WINDOW_SECONDS);
  const device = exactWindow(`login-device:${deviceId}`, PER_ACCOUNT, WINDOW_SECONDS);
  const windows: Window[] = deviceId ? [device] : ip ? [account, network] : [account];
  const taken: [Window, number][] = [];
  let used = 0;
  for (const window of windows) {
    const grant = await apiLimiter().take(window, 1);
    if (grant.granted === 0) {
      for (const [other, bucket] of taken) await apiLimiter().giveBack(other, bucket, 1);
      throw throttled(Math.ceil(grant.retryAfterMs / 1_000));
    }
    if (window === account) used = grant.used;
    taken.push([window, grant.bucket]);
  }
  return {
    isLastOfAccount: used === PER_ACCOUNT,
    async succeeded() {
      for (const [window, bucket] of taken) {
        if (window === network) await apiLimiter().giveBack(window, bucket, 1);
        else await apiLimiter().forget(window);
      }
    },
  };
}

/** Returns true once per day and account: the owner is notified of guessing, not of each guess. */
export async function mayNotify(email: string): Promise<boolean> {
  const window = exactWindow(`login-notice:${accountKey(email)}`, 1, NOTICE_SECONDS);
  return (await apiLimiter().take(window, 1)).granted === 1;
}
