import { Line, Type } from "../lib/shapes.ts";

const Tag = (example: string, description: string) =>
  Type.Optional(Type.String({ ...Line(255), minLength: 1, pattern: "\\S", examples: [example], description }));

/** Tags of a send's links (services/tracking/hits/utm.ts). */
export const Utm = Type.Object(
  {
    source: Tag("newsletter", "`utm_source`: where the visit comes from."),
    medium: Tag("email", "`utm_medium`: by which kind of channel."),
    campaign: Tag("october", "`utm_campaign`: of which campaign."),
    term: Tag("books", "`utm_term`: for which word or audience."),
    content: Tag("header", "`utm_content`: which of several links or versions."),
  },
  {
    additionalProperties: false,
    description:
      "Added to the addresses of tracked links that lack them, behind their own query, which stays as it is, and before the fragment. Links that are not tracked (where the company tracks none, in copies, in the text part) get none. Clicks are reported by the address without them.",
  },
);
