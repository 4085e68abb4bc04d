/** Counts of a send's audience. */

import type { ServiceContract } from "../define.ts";
import { Bool, Described, Type, Uuid } from "../lib/shapes.ts";
import { LEFT_OUT } from "./send/count-audience.ts";

const People = (description: string) => Type.Integer({ description, examples: [17] });

const REASONS: Record<(typeof LEFT_OUT)[number], string> = {
  unconfirmed: "Have not confirmed their subscription.",
  unsubscribed: "Have unsubscribed; they still get transactional mail.",
  bounced: "Their mailbox does not exist.",
  complained: "Have reported a mail as spam.",
  suppressed: "People whose address or domain is suppressed.",
};

export const audiences = {
  audience: {
    summary: "Count the recipients of a send to a list or segment",
    description:
      "Applies the rules of the send itself: `recipients` get the mail; the others are counted under the first reason that applies. Requires exactly one of `list_id` and `segment_id`. With more than 50,000 people, or where counting takes seconds, the numbers are estimates from a sample, and `is_estimate` is true.",
    params: Type.Object({
      list_id: Type.Optional(Described(Uuid, "List to send to.")),
      segment_id: Type.Optional(Described(Uuid, "Segment to send to.")),
      is_transactional: Type.Optional(
        Described(
          Bool,
          "True for receipts, password resets and similar mails. They are sent before newsletters, also to people who unsubscribed, and are retried when delivery is in doubt.",
        ),
      ),
    }),
    returns: Type.Object({
      total: Type.Integer({ description: "People of the list or segment.", examples: [12_448] }),
      recipients: Type.Integer({ description: "People who would get the mail.", examples: [12_431] }),
      left_out: Type.Object(
        Object.fromEntries(LEFT_OUT.map((reason) => [reason, People(REASONS[reason])])) as Record<
          (typeof LEFT_OUT)[number],
          ReturnType<typeof People>
        >,
        { description: "People who would not get it, by reason." },
      ),
      is_estimate: Type.Boolean({ description: "True if the numbers are estimates from a sample.", examples: [false] }),
    }),
  },
} as const satisfies ServiceContract;
