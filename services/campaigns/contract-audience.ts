/** Whom a send would reach. */

import type { ServiceContract } from "../define.ts";
import { Bool, Described, Type, Uuid } from "../lib/shapes.ts";
import { LEFT_OUT } from "./send/count-audience.ts";

const People = (description: string) => Type.Integer({ description, examples: [17] });

const REASONS: Record<(typeof LEFT_OUT)[number], string> = {
  unconfirmed: "Have not confirmed that they want mail.",
  unsubscribed: "Have unsubscribed; transactional mail reaches them.",
  bounced: "Their mailbox does not exist.",
  complained: "Have called a mail spam.",
  suppressed: "Their address or its domain is suppressed.",
};

export const audiences = {
  audience: {
    summary: "Whom a send to a list or segment would reach now",
    description:
      "By the rules of the send itself: `recipients` get it, the others are counted by the first reason that holds. Exactly one of `list_id` and `segment_id` is needed. With more than 50,000 people, or where counting takes seconds, the numbers are estimates from a part of them, and `is_estimate` says so.",
    params: Type.Object({
      list_id: Type.Optional(Described(Uuid, "The list that it goes to.")),
      segment_id: Type.Optional(Described(Uuid, "The segment that it goes to.")),
      is_transactional: Type.Optional(
        Described(
          Bool,
          "True: a receipt, a password reset and the like. It goes before newsletters, also to those who unsubscribed, and again where it is in doubt.",
        ),
      ),
    }),
    returns: Type.Object({
      total: Type.Integer({ description: "People of the list or segment.", examples: [12_448] }),
      recipients: Type.Integer({ description: "Those who would get it.", examples: [12_431] }),
      left_out: Type.Object(
        Object.fromEntries(LEFT_OUT.map((reason) => [reason, People(REASONS[reason])])) as Record<
          (typeof LEFT_OUT)[number],
          ReturnType<typeof People>
        >,
        { description: "Those who would not, by why." },
      ),
      is_estimate: Type.Boolean({ description: "The numbers come from a part of the people.", examples: [false] }),
    }),
  },
} as const satisfies ServiceContract;
