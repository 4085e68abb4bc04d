/**
 * Wrong logins slow down, by account and by network; beside the gateway's requests a minute by address. A browser that was
 * logged in before is counted by itself: nobody locks a person out of it by guessing from elsewhere.
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
  /** If it fails, the account has to wait. */
  isLastOfAccount: boolean;
  /** The account's count begins anew, and the network's is without this one. */
  succeeded(): Promise<void>;
}

/** Throws a 429 where there were too many. Counted before the password is looked at: many at once are no way around. */
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
      for (const [other, bucket] of taken) await apiLimiter().give(other, bucket, 1);
      throw throttled(Math.ceil(grant.retryAfterMs / 1_000));
    }
    if (window === account) used = grant.used;
    taken.push([window, grant.bucket]);
  }
  return {
    isLastOfAccount: used === PER_ACCOUNT,
    async succeeded() {
      for (const [window, bucket] of taken) {
        if (window === network) await apiLimiter().give(window, bucket, 1);
        else await apiLimiter().forget(window);
      }
    },
  };
}

/** True once a day for an account: the owner hears of guessing, and not of each guess. */
export async function mayNotify(email: string): Promise<boolean> {
  const window = exactWindow(`login-notice:${accountKey(email)}`, 1, NOTICE_SECONDS);
  return (await apiLimiter().take(window, 1)).granted === 1;
}
