import { Line, Type } from "../lib/shapes.ts";

const Tag = (example: string, description: string) =>
  Type.Optional(Type.String({ ...Line(255), minLength: 1, pattern: "\\S", examples: [example], description }));

/** UTM tags of a send's links (services/tracking/hits/utm.ts). */
export const Utm = Type.Object(
  {
    source: Tag("newsletter", "`utm_source`: source of the visit."),
    medium: Tag("email", "`utm_medium`: kind of channel."),
    campaign: Tag("october", "`utm_campaign`: name of the campaign."),
    term: Tag("books", "`utm_term`: keyword or audience."),
    content: Tag("header", "`utm_content`: distinguishes links or versions."),
  },
  {
    additionalProperties: false,
    description:
      "Parameters added to tracked links that lack them, after the link's own query and before the fragment. Links that are not tracked (tracking off, copies, text part) get none. Clicks are reported by the address without them.",
  },
);
