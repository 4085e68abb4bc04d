/** Audience of a campaign: the choice as one value of a select, and how many people it currently has. */
import type { ReturnsOf } from "../../../contracts.ts";
import { isServiceError } from "../../../lib/errors.ts";
import { isUuid } from "../../../lib/ids.ts";
import { messages } from "../../messages.ts";
import { formatted } from "../../render.ts";
import { type CompanyVisit, callIn } from "../../request.ts";
import { type Body, receiversIn, textIn } from "./draft.ts";

type Counted = ReturnsOf<"campaigns.audience">;

/** Returns `list:<id>`, `segment:<id>`, `addresses`, or an empty string. */
export function choiceIn(body: Body): string {
  if (textIn(body, "list_id")) return `list:${textIn(body, "list_id")}`;
  if (textIn(body, "segment_id")) return `segment:${textIn(body, "segment_id")}`;
  return Array.isArray(body.receivers) ? "addresses" : "";
}

/** Returns the audience fields of a draft's body. */
export function fieldsOf(choice: string): { list_id: string | undefined; segment_id: string | undefined } {
  const [kind, id] = choice.split(":") as [string, string | undefined];
  return { list_id: kind === "list" ? id : undefined, segment_id: kind === "segment" ? id : undefined };
}

/** Maximum choices in a select; others are found by name. */
export const MAX_CHOICES = 100;

/** Reads a segment without its size, which may take seconds to count. */
export const segmentOf = (visit: CompanyVisit, id: string) =>
  callIn(visit, "subscribers.getSegment", { id, count: false });

/** Reasons why people are left out, largest number first; reasons without people are omitted. */
function reasonsOf({ left_out }: Counted): string[] {
  const t = messages.newCampaign.leftOut;
  return Object.entries(left_out)
    .filter(([, n]) => n > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, n]) => t[reason as keyof typeof t](formatted(n), n));
}

export interface AudienceWords {
  /** "12,431 people", or "about 812,000 people". */
  people: string;
  recipients: number;
  leftOut: string[];
}

export function wordsOf(counted: Counted): AudienceWords {
  const t = messages.newCampaign;
  const n = formatted(counted.recipients);
  return {
    people: counted.is_estimate ? t.aboutPeople(n) : t.people(n, counted.recipients),
    recipients: counted.recipients,
    leftOut: reasonsOf(counted),
  };
}

/** Errors after which the page is shown without a count: the list was deleted, or counting took too long. */
const UNCOUNTED = ["INVALID", "UNAVAILABLE", "THROTTLED"] as const;

/** Counts the audience; undefined if nothing is chosen or it cannot be counted. */
export async function audienceOf(visit: CompanyVisit, body: Body): Promise<AudienceWords | undefined> {
  const { list_id, segment_id } = fieldsOf(choiceIn(body));
  if (!isUuid(list_id ?? segment_id)) {
    const { length } = receiversIn(body);
    const t = messages.newCampaign;
    return length > 0
      ? { people: t.addressesCount(formatted(length), length), recipients: length, leftOut: [] }
      : undefined;
  }
  try {
    const counted = await callIn(visit, "campaigns.audience", {
      ...(list_id ? { list_id } : {}),
      ...(segment_id ? { segment_id } : {}),
      ...(body.is_transactional === true ? { is_transactional: true } : {}),
    });
    return wordsOf(counted);
  } catch (error) {
    if (!UNCOUNTED.some((code) => isServiceError(error, code))) throw error;
    return undefined;
  }
}

/** Largest audience that is counted while the page is rendered; larger ones are counted afterwards or on request. */
const AT_ONCE = 20_000;

export async function isCountedAtOnce(visit: CompanyVisit, body: Body): Promise<boolean> {
  const { list_id, segment_id } = fieldsOf(choiceIn(body));
  if (isUuid(list_id)) {
    const { subscriber_count } = await callIn(visit, "subscribers.getList", { id: list_id });
    return subscriber_count <= AT_ONCE;
  }
  if (!isUuid(segment_id)) return true;
  const { count } = await callIn(visit, "subscribers.list", { page_size: 1 });
  return count <= AT_ONCE;
}
