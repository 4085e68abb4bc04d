/**
 * Streams a campaign's progress to the console's pages, authenticated by the session cookie. Shares the reader of the
 * API's streams (progress-streams.ts). Watching does not extend the session.
 */
import { notFound, unauthenticated } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import { readSession } from "../lib/tokens/console-session.ts";
import type { Context } from "./http/context.ts";
import { feedOf } from "./progress-streams.ts";
import type { RouteDeps } from "./route-handler.ts";

type ProgressDeps = Pick<RouteDeps, "broker" | "authentication" | "streams" | "permissionOf">;

const ACTION = "campaigns.progress";
/** Path below /app/: company and campaign. */
const PATH = /^([^/]+)\/campaigns\/([^/]+)\/progress$/;

export const isProgressPath = (path: string): boolean => PATH.test(path);

/** Throws 401 without a session, and 404 for a campaign that the person may not see. */
export function consoleProgress({ broker, authentication, streams, permissionOf }: ProgressDeps) {
  return async (context: Context, path: string, cookie: string | undefined): Promise<void> => {
    const [, company = "", campaign = ""] = PATH.exec(path) ?? [];
    const permission = permissionOf(ACTION);
    if (!isUuid(company) || !isUuid(campaign) || !permission) throw notFound();
    const companyId = company.toLowerCase();
    const id = campaign.toLowerCase();
    const callerNow = async () => {
      const person = cookie === undefined ? undefined : readSession(cookie)?.person;
      if (!person) throw unauthenticated();
      return authentication.callerIn(companyId, { person }, permission);
    };
    const meta = await callerNow();
    context.state.companyId = companyId;
    const { requestId } = context.state;
    const first = await broker.call(ACTION, { id }, { meta: { ...meta, requestId }, requestID: requestId });
    streams.open(context, feedOf(broker, { companyId, action: ACTION, params: { id }, allowed: callerNow }), first);
  };
}
