/** Progress of a campaign, as streamed every second. */
import { CAMPAIGN_STATUSES } from "../../models/campaign.ts";
import type { ServiceContract } from "../define.ts";
import { ById, Nullable, OneOf, Time, Type } from "../lib/shapes.ts";

const Progress = Type.Object({
  status: OneOf(...CAMPAIGN_STATUSES),
  total_emails: Type.Integer(),
  sent_count: Type.Integer(),
  failed_count: Type.Integer(),
  /** Null without individual tracking. */
  opens: Nullable(Type.Integer()),
  clicks: Nullable(Type.Integer()),
  /** 0 and null here; the gateway computes both from successive values. */
  per_second: Type.Number(),
  seconds_left: Nullable(Type.Integer()),
  retrying: Type.Integer(),
  next_retry_at: Nullable(Time),
});

const DESCRIPTION = `Extension. Server-sent events: \`progress\` at once and about once a second, and \`end\` when the campaign has ended, after which the stream closes; a campaign that has already ended sends both at once. The data of both is JSON: \`status\`, \`total_emails\`, \`sent_count\`, \`failed_count\`, \`opens\` and \`clicks\` as in the campaign, \`per_second\` (sent and failed, over the last ten seconds) \`seconds_left\`, null while unknown, \`retrying\` (deferred recipients that are tried again, counted up to 10,000) and \`next_retry_at\`, null if there are none.

A stream also closes without \`end\` after an hour, when access is revoked (within ten seconds) or when the process stops: connect again. 429 if 500 streams of the company are open.`;

export const progress = {
  progress: { summary: "Watch a campaign's progress", description: DESCRIPTION, params: ById, returns: Progress },
} as const satisfies ServiceContract;
