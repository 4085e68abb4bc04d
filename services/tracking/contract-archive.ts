/** Public archive of a list. */
import type { ServiceContract } from "../define.ts";
import { Described, Document, Type, Uuid } from "../lib/shapes.ts";

const ByList = { list_id: Described(Uuid, "List to send to.") };

export const contract = {
  archivePage: {
    summary: "Public archive of a list",
    description:
      "Completed and partial campaigns to a public list whose `archive` is on, newest first, 20 per page. 404 for any other list. Cached for up to a minute.",
    params: Type.Object({
      ...ByList,
      // Accepts any text, because people edit addresses; an invalid page is a 404.
      page: Type.Optional(
        Type.Union([Type.Integer(), Type.String()], { description: "From 1 to 500.", examples: [2] }),
      ),
    }),
    returns: Document,
  },
  archiveFeed: {
    summary: "Public archive of a list, as RSS 2.0",
    description: "The newest 20 newsletters.",
    params: Type.Object(ByList),
    returns: Document,
  },
  archivedIssue: {
    summary: "A past newsletter",
    description:
      "Shows the newsletter with variables empty or set to their defaults; unsubscribe links lead to the archive. Disappears within a minute after the campaign is deleted.",
    params: Type.Object({ ...ByList, campaign_id: Described(Uuid, "The campaign.") }),
    returns: Document,
  },
} as const satisfies ServiceContract;
