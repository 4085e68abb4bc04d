/** Actions that nobody outside calls: timers and events enter through them. */
import type { ServiceContract } from "../define.ts";
import { Type, Uuid } from "../lib/shapes.ts";

const None = Type.Object({});
const Done = Type.Object({ done: Type.Integer() });

export const work = {
  expandWaiting: {
    summary: "Write the recipients of campaigns that wait for it, a slice of each in turn",
    params: None,
    returns: Done,
  },
  startDue: { summary: "Start scheduled campaigns whose time has come", params: None, returns: Done },
  settleFinished: {
    summary: "Give campaigns whose recipients are all final their last status",
    params: None,
    returns: Done,
  },
  tidy: {
    summary: "Forget old idempotency keys and files that nobody needs, settle what is stuck",
    params: None,
    returns: Done,
  },
  sendConfirmation: {
    summary: "Send the double opt-in mail to one subscriber",
    description: "Through the company's default SMTP configuration. 400 where it has none, 403 over the monthly quota.",
    params: Type.Object({ subscriber_id: Uuid, confirm_url: Type.String({ maxLength: 2_000 }) }),
    returns: Type.Object({ campaign_id: Uuid }),
  },
  settle: {
    summary: "Give one campaign its last status if all its recipients are final",
    params: Type.Object({ campaign_id: Uuid }),
    returns: Type.Object({ settled: Type.Boolean() }),
  },
} as const satisfies ServiceContract;
