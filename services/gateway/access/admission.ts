/**
 * Limits concurrent requests per company, so that one company with hundreds of them cannot occupy the process. Counts
 * requests with credentials (by company or person) and submissions of a company's public form; links in mails, provider
 * reports and open streams are exempt.
 */
import { ConcurrencyLimit, type Release } from "../../lib/concurrency-limit.ts";
import { badRequest } from "../../lib/errors.ts";
import { gauge } from "../../lib/metrics.ts";
import type { WaitBudget } from "../../lib/owner.ts";
import type { Context } from "../http/context.ts";

/** Enough to keep two cores busy, and few enough that other companies get their share soon. */
const MAX_CONCURRENT_REQUESTS = 32;

const requests = new ConcurrencyLimit({ perCompany: MAX_CONCURRENT_REQUESTS });

gauge("flockmail_requests_waiting", "Requests waiting for their company's concurrency limit.", () => requests.waiting);

/** `owner` is a company, a person, or a company's public form. Throws 429 when the request has waited too long. */
export async function admit(context: Context, owner: string, budget: WaitBudget): Promise<Release> {
  const release = await requests.acquire(owner, { budget });
  if (!context.req.socket.destroyed) return release;
  release();
  throw badRequest("The client left.");
}
