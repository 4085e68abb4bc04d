/**
 * Limits concurrent requests, so that a company with hundreds of them leaves the process to others. Counted are requests with
 * credentials, by company or person, and submissions of a company's public form. Links in mails, providers' reports and open
 * streams are not.
 */
import { ConcurrencyLimit, type Release } from "../../lib/concurrency-limit.ts";
import { badRequest } from "../../lib/errors.ts";
import { gauge } from "../../lib/metrics.ts";
import type { WaitBudget } from "../../lib/owner.ts";
import type { Context } from "../http/context.ts";

/** More than two cores can work on at once, and few enough to leave them to others soon. */
const MAX_CONCURRENT_REQUESTS = 32;

const requests = new ConcurrencyLimit({ perCompany: MAX_CONCURRENT_REQUESTS });

gauge("flockmail_requests_waiting", "Requests waiting for their company's concurrency limit.", () => requests.waiting);

/** `owner`: a company, a person, or a company's public form. Throws 429 where the request has waited too long. */
export async function admit(context: Context, owner: string, budget: WaitBudget): Promise<Release> {
  const release = await requests.acquire(owner, { budget });
  if (!context.req.socket.destroyed) return release;
  release();
  throw badRequest("The client left.");
}
