/** What happens by the subscribers' own doing, and what sends leave behind. */
import type { ServiceContract } from "../define.ts";
import { Email, Type, Uuid } from "../lib/shapes.ts";
import { PersonName } from "./contract-shapes.ts";

const Receiver = Type.Object({
  email: Type.String(),
  first_name: Type.Optional(Type.String()),
  last_name: Type.Optional(Type.String()),
});

export const contract = {
  subscribe: {
    summary: "Subscribe (public)",
    description:
      "The answer is the same whether the address is known or not. With the company's double opt-in the subscriber is unconfirmed until the link in a mail is followed. Subscribing lifts an earlier unsubscribe, never a bounce or a complaint.",
    params: Type.Object({
      company_id: Uuid,
      email: Email,
      first_name: Type.Optional(PersonName),
      last_name: Type.Optional(PersonName),
      list_id: Type.Optional(Uuid),
    }),
    returns: Type.Object({ detail: Type.String() }),
    example: { email: "ada@example.com", first_name: "Ada" },
  },
  confirm: {
    summary: "Confirm a double opt-in subscription",
    description: "Unknown token: 404; expired, or unsubscribed since: 410. A second time changes nothing.",
    params: Type.Object({ token: Type.String() }),
    returns: Type.Object({ company_id: Uuid, subscriber_id: Uuid, email: Type.String() }),
  },
  saveReceivers: {
    summary: "Keep the receivers of a send as subscribers",
    description:
      "Best effort: where the plan's limit leaves no room a receiver is not kept (id null). Blank names are filled in, nothing else of an existing subscriber changes.",
    params: Type.Object({ receivers: Type.Array(Receiver, { maxItems: 10_000 }) }),
    returns: Type.Object({ ids: Type.Array(Type.Union([Uuid, Type.Null()])) }),
  },
} as const satisfies ServiceContract;
