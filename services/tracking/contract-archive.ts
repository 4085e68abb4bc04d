/** The public archive of a list. */
import type { ServiceContract } from "../define.ts";
import { Described, Document, Type, Uuid } from "../lib/shapes.ts";

const ByList = { list_id: Described(Uuid, "The list that it goes to.") };

export const contract = {
  archivePage: {
    summary: "Public archive of a list",
    description:
      "What was sent to a public list whose `archive` is on: campaigns to the list that are completed or partial, newest first, 20 to a page. For any other list it is 404. May be kept for a minute.",
    params: Type.Object({
      ...ByList,
      // Any text is accepted, since people edit addresses: what is no page is a 404.
      page: Type.Optional(
        Type.Union([Type.Integer(), Type.String()], { description: "From 1 to 500.", examples: [2] }),
      ),
    }),
    returns: Document,
  },
  archiveFeed: {
    summary: "Public archive of a list, as RSS 2.0",
    description: "The newest 20.",
    params: Type.Object(ByList),
    returns: Document,
  },
  archivedIssue: {
    summary: "A past newsletter",
    description:
      "As everybody may read it: variables are empty, or have their defaults; links to unsubscribe lead to the archive. It may be gone within a minute once the campaign is deleted.",
    params: Type.Object({ ...ByList, campaign_id: Described(Uuid, "The campaign.") }),
    returns: Document,
  },
} as const satisfies ServiceContract;
